/**
 * Creates Xxxes, and waits for changes of Xxxes and Jobs. `end` sets the phase of a Pod, because some tests have no kubelet that runs the
 * Pod.
 */
import { findCondition } from '../../../src/api/conditions.ts'
import { pod as podType, type Pod } from '../../../src/api/builtin.ts'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import { core } from '../../../src/api/kubernetes/core.ts'
import type { Client } from '../../../src/client/client.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import { xxx } from '../../../src/operators/xxx/kind.ts'
import { until } from '../../../src/testing/until.ts'
import { find } from '../devcluster/client.ts'
import { cleanUpName, sampleSpec } from './objects.ts'
import type { NamespacedKey } from '../conformance/new-namespaces.ts'

export const finalizer = 'job.finalizers.test.inspur.com'
/** The time limit of a wait in milliseconds. It is long enough for a slow machine. */
const slowMs = 40_000

export type XxxWorld = ReturnType<typeof xxxWorld>

export function xxxWorld(client: Client) {
  const create = (key: NamespacedKey, spec: Partial<Xxx['spec']> = {}): Promise<Xxx> =>
    client.create(xxx, { metadata: { ...key }, spec: { ...sampleSpec, ...spec } })
  /** Applies the sample, like `kubectl apply --server-side`. */
  const apply = (key: NamespacedKey, spec: Partial<Xxx['spec']> = {}): Promise<unknown> =>
    client.apply(xxx, { metadata: { ...key }, spec: { ...sampleSpec, ...spec } }, { fieldManager: 'kubectl' })

  const findJob = ({ namespace }: NamespacedKey, name = sampleSpec.jobName): Promise<batch.Job | undefined> =>
    find(client, batch.job, { namespace, name })
  const untilJob = (key: NamespacedKey, name?: string, isWanted: (job: batch.Job) => boolean = () => true): Promise<batch.Job> =>
    until(
      `the Job ${name ?? ''} is as wanted`,
      async () => {
        const job = await findJob(key, name)
        return job !== undefined && isWanted(job) && job
      },
      slowMs,
    )
  const untilXxx = (key: NamespacedKey, what: string, isWanted: (found: Xxx) => boolean): Promise<Xxx> =>
    until(
      what,
      async () => {
        const found = await client.get(xxx, key)
        return isWanted(found) && found
      },
      slowMs,
    )
  const untilPhase = (key: NamespacedKey, phase: NonNullable<Xxx['status']>['phase']): Promise<Xxx> =>
    untilXxx(
      key,
      `the phase is ${phase}`,
      ({ status, metadata }) => status?.phase === phase && status?.observedGeneration === metadata.generation,
    )
  const untilCondition = (key: NamespacedKey, type: string, reason: string): Promise<Xxx> =>
    untilXxx(key, `${type} is ${reason}`, ({ status }) => findCondition(status?.conditions, type)?.reason === reason)
  const untilGone = (key: NamespacedKey): Promise<unknown> =>
    until('the Xxx is gone', async () => (await find(client, xxx, key)) === undefined, slowMs)

  const podsOf = async (job: batch.Job): Promise<readonly Pod[]> => {
    const { uid, namespace } = job.metadata
    return (await client.list(podType, { namespace, labelSelector: { matchLabels: { 'controller-uid': uid } } })).items
  }
  const untilPod = (job: batch.Job): Promise<Pod> =>
    until('the Job has a Pod', async () => (await podsOf(job)).find(({ metadata }) => metadata.deletionTimestamp === undefined), slowMs)
  const end = async (job: batch.Job, phase: 'Succeeded' | 'Failed'): Promise<void> => {
    const { metadata } = await untilPod(job)
    await client.patchStatus(podType, metadata, { status: { phase } })
  }
  /** Waits for the Job that removes the files. Then sets the phase of the Pod of this Job to `Succeeded`, and returns the Job. */
  const untilCleanedUp = async (key: NamespacedKey, isWanted?: (job: batch.Job) => boolean): Promise<batch.Job> => {
    const job = await untilJob(key, cleanUpName, isWanted)
    await end(job, 'Succeeded')
    return job
  }
  /** Waits for the build Job, sets the phase of its Pod to `Succeeded`, and waits until the phase of the Xxx is `Succeeded`. */
  const untilBuilt = async (key: NamespacedKey): Promise<batch.Job> => {
    const job = await untilJob(key)
    await end(job, 'Succeeded')
    await untilPhase(key, 'Succeeded')
    return job
  }
  const untilEvents = ({ namespace, name }: NamespacedKey, ...reasons: readonly string[]): Promise<unknown> =>
    until(`there are the Events ${reasons.join(', ')}`, async () => {
      const { items } = await client.list(core.event, { namespace, fieldSelector: `involvedObject.name=${name}` })
      return reasons.every((reason) => items.some((event) => event.reason === reason))
    })
  return {
    create,
    apply,
    findJob,
    untilJob,
    untilXxx,
    untilPhase,
    untilCondition,
    untilGone,
    podsOf,
    untilPod,
    end,
    untilCleanedUp,
    untilBuilt,
    untilEvents,
  }
}
