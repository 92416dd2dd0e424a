/** The spec of a Lease, as leader election reads and writes it. */
import type { coordination } from '../api/kubernetes/coordination.ts'

const maxInt32 = 2 ** 31 - 1

export type LeaseSpec = NonNullable<coordination.Lease['spec']>

/** The candidate that writes the spec of a Lease. `now` is in milliseconds since the Unix epoch. */
export interface Candidate {
  readonly identity: string
  readonly leaseDurationMs: number
  readonly now: number
}

/** Returns `leaseDurationSeconds` in milliseconds, or `defaultMs` when the field is not a number above 0. */
export function durationMs({ leaseDurationSeconds }: LeaseSpec, defaultMs: number): number {
  const value: unknown = leaseDurationSeconds
  const seconds = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0
  return seconds > 0 ? seconds * 1000 : defaultMs
}

/**
 * Returns the spec with which the candidate acquires or renews the lease. Fields that leader election does not set are copied from
 * `previous`.
 */
export function heldBy({ identity, leaseDurationMs, now }: Candidate, previous: LeaseSpec = {}): LeaseSpec {
  const renews = previous.holderIdentity === identity
  const transitions = typeof previous.leaseTransitions === 'number' ? previous.leaseTransitions : 0
  return {
    ...previous,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    acquireTime: (renews ? previous.acquireTime : undefined) ?? microTime(now),
    renewTime: microTime(now),
    // The API server rejects a Lease if `leaseTransitions` exceeds the maximum of an int32. Without this limit, no replica could acquire a
    // lease whose `leaseTransitions` has reached this maximum.
    leaseTransitions: Math.min(maxInt32, transitions + (renews || previous.holderIdentity === undefined ? 0 : 1)),
  }
}

/** Returns the spec with which the leader releases the lease. The duration is one second, as in client-go. */
export function released(previous: LeaseSpec, now: number): LeaseSpec {
  const time = microTime(now)
  return { ...previous, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time }
}

/** Formats a time as a Kubernetes `MicroTime`, with six fractional digits. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
