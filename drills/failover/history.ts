/**
 * `historyOf`: finds the illegal writes and the late writes in the failover drill. `History` defines both terms. The definitions refer to
 * the guard of leader election (`LeaderElector.guard`). The guard is called before each write of a reconcile, and throws if the replica is
 * not the leader.
 */
import type { RequestRecord } from '../../src/testing/index.ts'
import { gadget } from '../gadget.ts'
import { lease } from './lease.ts'
import type { SentWrite } from './sent-writes.ts'
import { writeIdOf } from './sent-writes.ts'

/** A write that the API server has received. The write changes a Gadget or the status of a Gadget. */
export interface ReceivedWrite {
  readonly user: string
  readonly id: string
  readonly path: string
  readonly code: number
  readonly receivedAt: number
  /** Undefined when the replica has not reported the write. */
  readonly sent: SentWrite | undefined
}

/** A successful write of the Lease. A replica writes the Lease to acquire, renew or release the Lease. */
interface LeaseWrite {
  readonly user: string
  readonly at: number
  readonly isRelease: boolean
}

/** The requests that the replicas have reported. */
export interface Reported {
  /** The writes, keyed by their id. */
  readonly sent: ReadonlyMap<string, SentWrite>
  /** The times at which each replica sent a request that releases the Lease, keyed by the name of the replica. */
  readonly releases: ReadonlyMap<string, readonly number[]>
}

export interface History {
  /** The writes to Gadgets, in the order in which the API server received them. */
  readonly writes: readonly ReceivedWrite[]
  /**
   * The writes that are failures. A write is a failure if its replica did not hold the Lease when the guard was called, or if no replica
   * has reported the write.
   */
  readonly illegal: readonly string[]
  /**
   * The writes that are late, but not illegal. A write W is late if these events happen in this order:
   *
   * - The guard is called for W.
   * - The API server receives a write of another replica.
   * - The API server receives W.
   *
   * No client can prevent late writes, because the network can delay W, and the process can pause after the call of the guard.
   */
  readonly late: readonly string[]
}

/**
 * Compares the requests that the API server has recorded with the writes that the replicas have reported. A request and a reported write
 * match when they have the same id.
 */
export function historyOf(requests: readonly RequestRecord[], { sent, releases }: Reported): History {
  const ofUsers = requests.filter(({ user }) => releases.has(user))
  const leaseRequests = ofUsers.filter(({ verb, path }) => ['create', 'update'].includes(verb) && path.includes('/leases'))
  // A replica releases the Lease only when none of its other writes of the Lease is in flight. Therefore, the first write of the Lease that
  // the API server receives from this replica after `releasedAt` is the release.
  const arrived = [...releases].flatMap(([user, times]) =>
    times.map((releasedAt) => leaseRequests.find((request) => request.user === user && request.at >= releasedAt)),
  )
  const leases = leaseRequests
    .filter(({ code }) => code < 300)
    .map((request): LeaseWrite => ({ user: request.user, at: request.at, isRelease: arrived.includes(request) }))
  const writes = ofUsers
    .filter(({ verb, path }) => verb === 'patch' && path.includes(`/${gadget.plural}/`))
    .map(({ user, path, query, code, at }): ReceivedWrite => {
      const id = writeIdOf(query) ?? ''
      return { user, id, path, code, receivedAt: at, sent: sent.get(id) }
    })
  const illegal = writes.filter(({ user, sent }) => sent === undefined || !holdsLease(leases, releases.get(user)!, user, sent.checkedAt))
  const late = writes.filter((write) => !illegal.includes(write) && isLate(write, writes))
  return { writes, illegal: illegal.map((write) => describe(write, leases)), late: late.map((write) => describe(write, leases)) }
}

/**
 * Returns true when `user` held the Lease at the time `at`. All of these conditions must be true:
 *
 * - Of all writes of the Lease until `at`, the latest write came from `user`, and did not release the Lease.
 * - The time between this write and `at` is shorter than the lease duration.
 * - Between this write and `at`, `user` did not send a request that releases the Lease.
 */
function holdsLease(leases: readonly LeaseWrite[], releases: readonly number[], user: string, at: number): boolean {
  const latest = leases.findLast((write) => write.at <= at)
  if (latest === undefined || latest.user !== user || latest.isRelease) return false
  const hasReleased = releases.some((releasedAt) => releasedAt > latest.at && releasedAt <= at)
  return !hasReleased && at - latest.at < lease.leaseDurationMs
}

/**
 * Returns true if a write W is late. W is late if these events happen in this order:
 *
 * - The guard of leader election is called for W.
 * - The API server receives a write of another replica.
 * - The API server receives W.
 */
function isLate({ user, sent, receivedAt }: ReceivedWrite, writes: readonly ReceivedWrite[]): boolean {
  return writes.some((other) => other.user !== user && other.receivedAt > sent!.checkedAt && other.receivedAt < receivedAt)
}

function describe({ user, id, path, code, receivedAt, sent }: ReceivedWrite, leases: readonly LeaseWrite[]): string {
  const time = (at: number): string => new Date(at).toISOString().slice(11, 23)
  const write = `${id} to ${path.split('/').slice(-2).join('/')}, received ${time(receivedAt)} with ${code}`
  if (sent === undefined) return `${write}, but ${user} has not reported it`
  const { checkedAt, sentAt, port } = sent
  const around = [...leases.filter(({ at }) => at <= checkedAt).slice(-2), ...leases.filter(({ at }) => at > checkedAt).slice(0, 3)]
  const writers = around.map(({ user: writer, at, isRelease }) => `${writer} ${time(at)}${isRelease ? ' (release)' : ''}`).join(', ')
  return `${write}, guard called ${time(checkedAt)}, sent ${time(sentAt)} on the connection ${port}; the Lease was written by ${writers}`
}
