/** Tests of the attempts within one run of a probe (k8s.io/kubernetes/pkg/kubelet/prober: runProbeWithRetries). */
import t from 'tap'
import type { ContainerSpec, ProbeSpec } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { ProbeContext } from '../../../../src/devcluster/pods/probes/probe-context.ts'
import { runProbe } from '../../../../src/devcluster/pods/probes/run-probe.ts'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { loopbackTarget } from '../../../support/devcluster/loopback-target.ts'

/**
 * Returns the context of a container, and a function that returns the number of attempts to run a command. `failures` is the number of
 * attempts that fail before the first success.
 */
function contextWith(failures: number): { readonly context: ProbeContext; readonly commands: () => number } {
  let commands = 0
  const execute: ProbeContext['target']['execute'] = (command) => {
    commands += 1
    return commands > failures ? loopbackTarget.execute(command) : Promise.reject(new Error('no connection'))
  }
  const context: ProbeContext = {
    container: { name: 'main' } as ContainerSpec,
    target: { ...loopbackTarget, execute },
    clock: systemClock,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  }
  return { context, commands: () => commands }
}
const probe = (command: readonly string[]): ProbeSpec => ({ exec: { command } }) as ProbeSpec

t.test('a try without an outcome is repeated twice', async (t) => {
  const thirdWorks = contextWith(2)
  t.match(await runProbe(probe(['true']), thirdWorks.context), { kind: 'success' })
  t.equal(thirdWorks.commands(), 3)
  const noneWorks = contextWith(4)
  await t.rejects(runProbe(probe(['true']), noneWorks.context), { message: /no connection/ })
  t.equal(noneWorks.commands(), 3)
})

t.test('a failure is an outcome', async (t) => {
  const { context, commands } = contextWith(0)
  t.match(await runProbe(probe(['false']), context), { kind: 'failure' })
  t.equal(commands(), 1)
})
