/** `PodNamespaces`: the network, the host name, the IPC namespace and the process ids that the containers of a Pod share. */
import { isIPv4 } from 'node:net'
import { constants } from 'node:os'
import type { ClusterSandbox, EnteredNamespace } from './cluster-sandbox.ts'
import { bridge } from './cluster-sandbox.ts'
import { HeldProgram } from './held-program.ts'
import { openPorts } from './open-ports.ts'
import { ProgramError } from './programs.ts'

/** Starts a script in new namespaces. File descriptor 9 is the cluster's network namespace. Arguments: the script and its arguments. */
const unshareWithNetwork = `
exec 9</proc/self/ns/net
exec unshare --net --ipc --uts -- sh -c "$@"`
const unshareOnHostNetwork = `exec unshare --ipc --uts -- sh -c "$@"`

/** Connects the network of the Pod to the bridge. */
const setUpNetwork = `
link=$1 address=$2 hardwareAddress=$3 gateway=$4
shift 4
exec 8</proc/self/ns/net
nsenter --net=/proc/self/fd/9 -- \\
  ip link add name "$link" up master ${bridge} type veth peer name eth0 address "$hardwareAddress" netns /proc/self/fd/8
exec 8<&- 9<&-
ip -batch - <<END
link set lo up
address add $address dev eth0
link set eth0 up
route add default via $gateway
END
${openPorts}`

/** Sets the host name, and starts the first process of the Pod. Arguments: the host name and the script of that process. */
const setUpPod = `
hostname -- "$1"
exec unshare --pid --fork --kill-child -- sh -c "$2"`

/**
 * The script of the first process in the PID namespace of the Pod:
 *
 * - Prints the id of this process in the PID namespace of Proreus.
 * - Reads signals and process ids from the pipe of Proreus, and sends the signals. `kill` is built into the shell, so it works even when no
 *   new process can start.
 * - Ends when Proreus closes the pipe or dies. The kernel then kills all other processes of the Pod.
 */
const firstProcess = `
read -r pid rest </proc/self/stat
echo "$pid"
exec >/dev/null 2>&1
while read -r signal pid; do kill "-$signal" "$pid"; done`

export interface PodNetwork {
  /** An IPv4 address. */
  readonly address: string
  readonly gateway: string
  readonly prefixLength: number
}

export interface PodNamespacesOptions {
  readonly hostname: string
  /** The name of the Pod's link on the bridge: at most 15 characters. */
  readonly link: string
  /** Undefined for a Pod with `hostNetwork`. Such a Pod runs in the network namespace that contains the bridge. */
  readonly network: PodNetwork | undefined
}

export class PodNamespaces {
  /** The process id that the first process of the Pod has in the PID namespace of Proreus. */
  readonly pid: number
  readonly #cluster: ClusterSandbox
  readonly #program: HeldProgram
  readonly #link: string | undefined

  private constructor(cluster: ClusterSandbox, pid: number, program: HeldProgram, link: string | undefined) {
    this.#cluster = cluster
    this.pid = pid
    this.#program = program
    this.#link = link
  }

  /** @throws {ProgramError} when a program fails. The message is the stderr of this program. */
  static async open(cluster: ClusterSandbox, { hostname, link, network }: PodNamespacesOptions): Promise<PodNamespaces> {
    const script = ['set -e', ...(network === undefined ? [] : [setUpNetwork]), setUpPod].join('\n')
    const parameters = [...(network === undefined ? [] : networkParameters(link, network)), hostname, firstProcess]
    const unshare = network === undefined ? unshareOnHostNetwork : unshareWithNetwork
    const command = [...cluster.enter(['mount', 'net', 'pid']), 'sh', '-c', unshare, 'sh', script, 'sh', ...parameters]
    const program = await HeldProgram.start(command)
    const pid = Number(await program.nextLine())
    return new PodNamespaces(cluster, pid, program, network && link)
  }

  /** Resolves when all processes of the Pod have ended. */
  get ended(): Promise<void> {
    return this.#program.ended
  }

  /**
   * Returns a prefix for a command. With this prefix, the command runs in the given namespaces of the Pod, as root in the user namespace of
   * the cluster.
   */
  enter(namespaces: readonly EnteredNamespace[]): readonly string[] {
    return this.#cluster.enter(namespaces, this.pid)
  }

  /**
   * Sends a signal from within the Pod. No process outside of the Pod can receive this signal. Does nothing when the process has ended.
   *
   * @param pid the process id in the PID namespace of the Pod
   */
  signal(pid: number, name: NodeJS.Signals): void {
    this.#program.writeLine(`${constants.signals[name]} ${pid}`)
  }

  /** Kills all processes of the Pod, and removes its network. Resolves when both are done. */
  async close(): Promise<void> {
    await this.#program.close()
    // After the last process has ended, the kernel deletes the link with a delay. During this delay, a new Pod with the same address can
    // start. `close` therefore deletes the link itself.
    if (this.#link !== undefined) await this.#cluster.run(['net'], ['ip', 'link', 'delete', this.#link]).catch(() => undefined)
  }
}

function networkParameters(link: string, { address, prefixLength, gateway }: PodNetwork): readonly string[] {
  if (!isIPv4(address)) throw new ProgramError(`invalid address ${JSON.stringify(address)}: expected an IPv4 address`)
  return [link, `${address}/${prefixLength}`, hardwareAddressOf(address), gateway]
}

/**
 * Derives the hardware address from the IP address (github.com/containernetworking/plugins: GenerateHardwareAddr4). If a Pod gets the IP
 * address of an earlier Pod, it also gets the same hardware address, and the ARP entries of other Pods remain valid.
 */
function hardwareAddressOf(address: string): string {
  const bytes = [0x0a, 0x58, ...address.split('.').map(Number)]
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':')
}
