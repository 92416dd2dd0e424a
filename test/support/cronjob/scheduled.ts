/**
 * A control plane with the CronJob operator. The test sets the clock of the operator. The test ends the Jobs, because no Job controller
 * runs.
 */
import type { Test } from 'tap'
import { findCondition } from '../../../src/api/conditions.ts'
import type { InferInput } from '../../../src/api/kind.ts'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import { core } from '../../../src/api/kubernetes/core.ts'
import type { NamespacedKey } from '../../../src/api/object.ts'
import { cronJobOperator } from '../../../src/operators/cronjob/index.ts'
import type { CronJob } from '../../../src/operators/cronjob/kind.ts'
import { cronJob } from '../../../src/operators/cronjob/kind.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'
import { conformanceControlPlane } from '../conformance/backends.ts'
import { newNamespaces } from '../conformance/new-namespaces.ts'
import { endJob, jobName, jobTemplate, minute } from './objects.ts'

type Spec = Partial<InferInput<typeof cronJob>['spec']>

export async function scheduledCronJobs(t: Test, name: string) {
  const controlPlane = await conformanceControlPlane(t, { controllers: false })
  const { client } = controlPlane
  // The clock starts at the system time, because the API server uses the system time for creation timestamps.
  const clock = new FakeClock(Date.now())
  const newNamespace = newNamespaces(client, name)
  const start = () => controlPlane.startOperator([cronJobOperator], { clock })
  let operator = await start()

  /**
   * Waits until `check` returns a value, as `until` does, and advances the operator's clock by 20 ms before each check. If the clock did
   * not advance, a watch that has ended would not begin again, because the next watch begins only after a delay on this clock.
   */
  const untilTicking = <Found>(what: string, check: () => Promise<Found | undefined | false>): Promise<Found> =>
    until<Found>(what, async () => {
      await clock.advance(20)
      return check()
    })
  const get = (key: NamespacedKey): Promise<CronJob> => client.get(cronJob, key)
  const jobsOf = async ({ namespace }: NamespacedKey): Promise<readonly string[]> =>
    (await client.list(batch.job, { namespace })).items.map(({ metadata }) => metadata.name)
  const namesAt = ({ name: owner }: NamespacedKey, times: readonly number[]) => times.map((time) => jobName(owner, time))

  return {
    client,
    clock,
    get,
    jobsOf,
    untilTicking,
    advanceTo: (time: number) => clock.advance(Math.max(0, time - clock.now())),
    endAt: (key: NamespacedKey, time: number, outcome?: 'Complete' | 'Failed') =>
      endJob(client, { ...key, name: jobName(key.name, time) }, time, outcome),
    async stopOperator(): Promise<void> {
      await operator.stop()
    },
    async startOperator(): Promise<void> {
      operator = await start()
    },
    /** Creates a CronJob, and resolves when it is reconciled. `first` is the first full minute after its creation. */
    async create(spec: Spec = {}): Promise<{ key: NamespacedKey; first: number }> {
      clock.set(Date.now())
      const key = { namespace: await newNamespace(), name: 'each' }
      const object = { metadata: key, spec: { schedule: '* * * * *', jobTemplate, ...spec } }
      const { metadata } = await until('a CronJob can be created', () => client.create(cronJob, object))
      await untilTicking('it is reconciled', async () => (await get(key)).status?.conditions !== undefined)
      const created = Math.max(Date.parse(metadata.creationTimestamp), clock.now())
      return { key, first: Math.floor(created / minute) * minute + minute }
    },
    /** Resolves when the namespace of the CronJob has the Jobs of these times, and no others. */
    untilJobs: (key: NamespacedKey, times: readonly number[]) =>
      untilTicking(
        `there are the Jobs ${namesAt(key, times).join()}`,
        async () => String(await jobsOf(key)) === String(namesAt(key, times)),
      ),
    /** Resolves when the active Jobs in the status of the CronJob are exactly the Jobs of the given scheduled times. */
    untilActive: (key: NamespacedKey, times: readonly number[]) =>
      untilTicking(`the active Jobs are ${namesAt(key, times).join()}`, async () => {
        const { status } = await get(key)
        return status?.activeCount === times.length && String(status.active?.map((job) => job.name)) === String(namesAt(key, times))
      }),
    untilEvent: (key: NamespacedKey, reason: string) =>
      untilTicking(`there is an Event ${reason}`, async () =>
        (await client.list(core.event, { namespace: key.namespace })).items.find((event) => event.reason === reason),
      ),
    untilCondition: (key: NamespacedKey, type: string, reason: string) =>
      untilTicking(`${type} is ${reason}`, async () => {
        const found = findCondition((await get(key)).status?.conditions, type)
        return found?.reason === reason && found
      }),
    /** Suspends a CronJob at the end of its test. A CronJob that is not suspended would start Jobs when other tests advance the clock. */
    suspend: (key: NamespacedKey) => client.patch(cronJob, key, { spec: { suspend: true } }),
  }
}
