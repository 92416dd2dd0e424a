/** The spec of a Lease as leader election uses it: who leads, and until when others must wait. */
import type { coordination } from '../api/kubernetes/coordination.ts'

export type LeaseSpec = NonNullable<coordination.Lease['spec']>

/** The candidate that writes a record, and the time of day in milliseconds since 1970. */
export interface Candidate {
  readonly identity: string
  readonly leaseDurationMs: number
  readonly now: number
}

/** Returns the record with which the candidate acquires or renews the lease. Fields that leader election does not know are kept. */
export function heldBy({ identity, leaseDurationMs, now }: Candidate, previous: LeaseSpec = {}): LeaseSpec {
  const renews = previous.holderIdentity === identity
  return {
    ...previous,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    acquireTime: (renews ? previous.acquireTime : undefined) ?? microTime(now),
    renewTime: microTime(now),
    leaseTransitions: (previous.leaseTransitions ?? 0) + (renews || previous.holderIdentity === undefined ? 0 : 1),
  }
}

/** Returns the record with which the leader releases the lease. Like client-go, it sets the shortest duration, one second. */
export function released(previous: LeaseSpec, now: number): LeaseSpec {
  const time = microTime(now)
  return { ...previous, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time }
}

/** Formats a time as the type `MicroTime` of the Kubernetes API, which requires six digits of the second's fraction. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
