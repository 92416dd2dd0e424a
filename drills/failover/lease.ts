/**
 * The Lease of the failover drill, and the function that reads its holder. The durations of the Lease are shorter than the defaults, so
 * that failovers are fast.
 */
import type { Client } from '../../src/index.ts'
import { coordination } from '../../src/index.ts'

export const namespace = 'failover'

export const lease = { namespace, name: 'drill', leaseDurationMs: 4_000, renewDeadlineMs: 3_000, retryPeriodMs: 500 } as const

export interface Holder {
  /** The name of the replica that holds the Lease; undefined when no replica holds it. */
  readonly instance: string | undefined
  /** The number of times that the holder has changed (`spec.leaseTransitions`). */
  readonly transitions: number
}

export async function holderOf(client: Client): Promise<Holder> {
  const { spec } = await client.get(coordination.lease, lease)
  const [instance] = (spec?.holderIdentity ?? '').split('_')
  return { instance: instance === '' ? undefined : instance, transitions: spec?.leaseTransitions ?? 0 }
}
