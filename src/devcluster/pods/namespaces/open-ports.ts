/** A shell command that permits all processes in a network namespace to listen on ports below 1024. */

/**
 * Permits processes with any uid to listen on all ports, as container runtimes do (github.com/containerd/containerd:
 * EnableUnprivilegedPorts). If the machine does not permit this, the command has no effect and still succeeds, so Pods run anyway.
 */
export const openPorts = '{ echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start; } 2>/dev/null || :'
