/** `proreus dev --pods=process --check`: shows which capabilities this machine has for Pods that run as processes. */
import type { Capability } from '../devcluster/pods/namespaces/probe-namespaces.ts'

/**
 * Prints a table of the capabilities of this machine. For a missing capability, the table contains the reason and a remedy. If a required
 * capability is missing, the exit code of this process is set to 1.
 */
export async function sayCapabilities(): Promise<void> {
  // The module is imported here, because the other commands do not need it.
  const { probeNamespaces } = await import('../devcluster/pods/namespaces/probe-namespaces.ts')
  const capabilities = await probeNamespaces()
  process.stdout.write(capabilityTable(capabilities))
  if (!canIsolate(capabilities)) process.exitCode = 1
}

/** Returns the table of capabilities as text. The last line names the mode in which Pods run on this machine. */
export function capabilityTable(capabilities: readonly Capability[]): string {
  const width = Math.max(...capabilities.map(({ name }) => name.length))
  const lines = capabilities.flatMap(({ name, works, isRequired, reason, remedy }) => [
    `${name.padEnd(width)}  ${works ? 'yes' : isRequired ? 'NO' : 'no (not required)'}`,
    ...(works || reason === undefined ? [] : [`  reason: ${reason}`]),
    ...(works || remedy === undefined ? [] : [`  remedy: ${remedy}`]),
  ])
  const verdict = canIsolate(capabilities)
    ? 'Pods have networks, file systems and process ids of their own (mode namespaces).'
    : 'Pods are plain processes: they share the network and the files of this machine (mode plain).'
  return `${[...lines, '', verdict].join('\n')}\n`
}

function canIsolate(capabilities: readonly Capability[]): boolean {
  return capabilities.every(({ works, isRequired }) => works || !isRequired)
}
