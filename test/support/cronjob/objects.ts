/** CronJobs for tests, and functions that end their Jobs. */
import type { JsonObject } from '../../../src/api/json.ts'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import { formatTime } from '../../../src/api/conditions.ts'
import type { NamespacedKey } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'

export const minute = 60_000
export const jobTemplate = {
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/work:1' }] } } },
}

/** Returns the name of the Job that a CronJob creates for a scheduled time. */
export function jobName(cronJob: string, time: number): string {
  return `${cronJob}-${time / 1000}`
}

/** Returns the status of a Job that has ended. */
export function endedStatus(outcome: 'Complete' | 'Failed', startTime: string, endTime: string): JsonObject {
  const before = outcome === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
  const conditions = [before, outcome].map((type) => ({ type, status: 'True', lastProbeTime: endTime, lastTransitionTime: endTime }))
  return { startTime, conditions, ...(outcome === 'Complete' && { completionTime: endTime }) }
}

/** Ends a Job, as the Job controller does. */
export async function endJob(
  client: Client,
  key: NamespacedKey,
  startedAt: number,
  outcome: 'Complete' | 'Failed' = 'Complete',
): Promise<void> {
  const status = endedStatus(outcome, formatTime(startedAt), formatTime(startedAt + 1000))
  await client.patchStatus(batch.job, key, { status } as never)
}
