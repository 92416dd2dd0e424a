/** `execProbe`: succeeds when a command in the container exits with code 0. */
import { messageOf } from '../../../api/errors.ts'
import { quote } from '../../../api/field-error.ts'
import { formatGoDuration } from '../../../formats/go-duration.ts'
import type { ContainerSpec, ProbeSpec } from '../../controllers/kubelet/container-runtime.ts'
import { expand, mappingOf } from '../environment/expansion.ts'
import { DeadlineExceeded, withDeadline } from './deadline.ts'
import type { ProbeContext } from './probe-context.ts'
import { ProbeError } from './probe-outcome.ts'
import type { ProbeOutcome } from './probe-outcome.ts'
import { runCommand } from './run-command.ts'

/**
 * Runs an `exec` probe (k8s.io/kubernetes/pkg/probe/exec: Probe).
 *
 * @throws {ProbeError} when the command is too long after the expansion of its references, or could not be started.
 */
export async function execProbe({ command = [] }: NonNullable<ProbeSpec['exec']>, context: ProbeContext): Promise<ProbeOutcome> {
  const { target, clock, timeoutMs, signal: ended } = context
  let words = command
  try {
    words = expanded(command, context.container)
    const result = await withDeadline(timeoutMs, context, (signal) => runCommand(words, target, { clock, signal }))
    return { kind: result.exitCode === 0 ? 'success' : 'failure', output: result.output }
  } catch (error) {
    ended.throwIfAborted()
    if (error instanceof DeadlineExceeded) return { kind: 'failure', output: timeoutMessage(words, timeoutMs) }
    throw new ProbeError(messageOf(error), { cause: error })
  }
}

/**
 * Expands references to the variables in `env`. In a probe, a variable with `valueFrom` has an empty value
 * (k8s.io/kubernetes/pkg/kubelet/container: ExpandContainerCommandOnlyStatic).
 */
function expanded(command: readonly string[], { env = [] }: ContainerSpec): readonly string[] {
  const mapping = mappingOf(new Map(env.map(({ name, value = '' }) => [name, value])))
  return command.map((word) => expand(word, mapping))
}

/** Returns the message for a command that has timed out (k8s.io/cri-client/pkg: execSyncV1). */
function timeoutMessage(command: readonly string[], timeoutMs: number): string {
  return `command timed out: ${quote(command.join(' '))} timed out after ${formatGoDuration(timeoutMs)}`
}
