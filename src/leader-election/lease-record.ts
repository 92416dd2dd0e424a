/** The spec of a Lease as leader election uses it: who leads, and until when others must wait. */
import type { coordination } from '../api/kubernetes/coordination.ts'

export type LeaseSpec = NonNullable<coordination.Lease['spec']>

/** The candidate that writes a record, and the time of day in milliseconds since 1970. */
export interface Candidate {
  readonly identity: string
  readonly leaseDurationMs: number
  readonly now: number
}

/**
 * Returns the time in milliseconds for which a record is valid. The API server permits whole seconds from 1 to 2^31-1 only; any other value
 * than a number above 0 is replaced by `defaultMs`.
 */
export function durationMs({ leaseDurationSeconds }: LeaseSpec, defaultMs: number): number {
  const value: unknown = leaseDurationSeconds
  const seconds = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0
  return seconds > 0 ? seconds * 1000 : defaultMs
}

/** Returns the record with which the candidate acquires or renews the lease. Fields that leader election does not know are kept. */
export function heldBy({ identity, leaseDurationMs, now }: Candidate, previous: LeaseSpec = {}): LeaseSpec {
  const renews = previous.holderIdentity === identity
  const transitions = typeof previous.leaseTransitions === 'number' ? previous.leaseTransitions : 0
  return {
    ...previous,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    acquireTime: (renews ? previous.acquireTime : undefined) ?? microTime(now),
    renewTime: microTime(now),
    leaseTransitions: transitions + (renews || previous.holderIdentity === undefined ? 0 : 1),
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
