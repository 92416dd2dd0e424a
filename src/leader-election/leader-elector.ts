/** `LeaderElector`: elects one of several replicas as the leader by means of a Lease, as client-go does. */
import { canonicalJson } from '../api/json.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import { coordination } from '../api/kubernetes/coordination.ts'
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import { retryOnConflict } from '../client/retry-on-conflict.ts'
import type { Clock, Timer } from '../runtime/clock.ts'
import { systemRandom } from '../runtime/random.ts'
import { sleep } from '../runtime/waiting.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { LeaderElectionMetrics } from '../telemetry/metrics.ts'
import { durationMs, heldBy, released } from './lease-record.ts'

/** The durations of leader election, in milliseconds. */
export interface LeaseTimes {
  /** When the leader has not renewed the lease for this time, another replica may acquire the lease. */
  readonly leaseDurationMs: number
  /** When the leader has not renewed the lease for this time, the leader ends its term. Must be shorter than `leaseDurationMs`. */
  readonly renewDeadlineMs: number
  /** Time between two attempts to renew or to acquire the lease. */
  readonly retryPeriodMs: number
}

export interface LeaderElectorOptions extends LeaseTimes {
  /** A client whose requests have a time limit that is shorter than `renewDeadlineMs`. */
  readonly client: Pick<Client, 'get' | 'create' | 'update' | 'watch'>
  readonly lease: { readonly namespace: string; readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  /** The `holderIdentity` of this replica in the Lease. Each replica needs a different identity. */
  readonly identity: string
  readonly clock: Clock
  readonly logger: Logger
  readonly events: EventRecorder
  readonly metrics: LeaderElectionMetrics
  /** Returns a number in [0, 1); `Math.random` when absent. */
  readonly random?: () => number
}

/** A period in which this replica is the leader. */
export interface Term {
  /** Aborts when the period ends. */
  readonly lost: AbortSignal
}

/** A point in time in milliseconds, by the monotonic clock and by the wall clock. */
interface Instant {
  readonly monotonic: number
  readonly wall: number
}

/** The last state of the Lease that this replica has seen. */
interface Observed {
  readonly lease: coordination.Lease
  /** Monotonic time at which this replica first saw the spec of `lease`. */
  readonly at: number
  /** True when the Lease no longer exists. */
  isDeleted: boolean
}

interface CurrentTerm extends Term {
  readonly abort: AbortController
  /** The time at which the leader sent its last successful renewal. */
  renewedAt: Instant
  timer: Timer
}

/**
 * Maximum random extension of a candidate's pause, as a multiple of `retryPeriodMs`. Because of the random extension, the candidates do not
 * all try at the same time.
 */
const jitter = 0.2
/** Time limit of a candidate's watch in seconds. After this time, the candidate starts a new watch. */
const watchSeconds = 300
/**
 * A watch without events is replaced after this number of retry periods. A leader renews the lease once in each retry period, so a working
 * watch receives events. If a watch receives no events, its connection is probably half-open. Such a watch would not show that the leader
 * releases the lease.
 */
const silentPeriods = 3

/**
 * Acquires the lease and renews it, as `LeaderElector` of `k8s.io/client-go/tools/leaderelection` does.
 *
 * The times in the Lease are never compared with the clock of this machine, because the clocks of two machines may differ. Each replica
 * measures a period with its own clock:
 *
 * - The leader ends its term `renewDeadlineMs` after it sent its last successful renewal.
 * - A candidate takes the lease `leaseDurationSeconds` after it first saw the latest spec of the Lease.
 *
 * The leader's period begins earlier and is shorter, so the term ends before a candidate takes the lease.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #random: () => number
  readonly #waiting = new Set<(term: Term) => void>()
  readonly #resigned = new AbortController()
  #observed: Observed | undefined
  /** True when this replica wrote the Lease in `#observed`. The leader then renews the lease without reading the Lease first. */
  #isOwn = false
  /** True while a request that acquires or renews the lease is in flight. */
  #isWriting = false
  #term: CurrentTerm | undefined
  /** True while a watch of the Lease is open. */
  #followed = false
  /** True when the watch has shown a free lease. The current or next pause of the candidate then ends at once. */
  #isDue = false
  #endPause: () => void = () => undefined
  /** The last failure that was logged. */
  #problem: string | undefined

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#random = options.random ?? systemRandom
  }

  /**
   * The `holderIdentity` in the last state of the Lease that this replica has seen. Undefined when the Lease has no holder in this state,
   * or when this replica has not seen the Lease yet.
   */
  get leader(): string | undefined {
    return this.#observed?.lease.spec?.holderIdentity || undefined
  }

  /** Acquires and renews the lease until the signal aborts or `resign` is called. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([stop, this.#resigned.signal])
    while (!ended.aborted) {
      if (this.#term === undefined) await this.#standBy(ended)
      else await this.#lead(this.#term, ended)
    }
    this.#end('it stops')
  }

  /**
   * Resolves with the current term. If this replica is not the leader, resolves with its next term when that term begins. Rejects with the
   * signal's reason when the signal aborts first.
   */
  term(signal: AbortSignal): Promise<Term> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    if (this.#term !== undefined && this.#isValid(this.#term)) return Promise.resolve(this.#term)
    return new Promise((resolve, reject) => {
      const begin = (term: Term): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(term)
      }
      const onAbort = (): void => {
        this.#waiting.delete(begin)
        reject(signal.reason as Error)
      }
      this.#waiting.add(begin)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /**
   * Throws if this replica is not the leader. The transport calls `guard` before each request of a reconcile.
   *
   * @throws {ProreusError} `PRO_ABORTED` when this replica is not the leader, or when its last renewal is older than `renewDeadlineMs`.
   */
  readonly guard = (): void => {
    if (this.#term !== undefined && this.#isValid(this.#term)) return
    throw new ProreusError('PRO_ABORTED', 'This replica is not the leader, so requests of its reconciles are not sent.')
  }

  /**
   * Ends the term and releases the lease, so another replica can lead at once. After that, this replica does not try to acquire the lease
   * again.
   */
  async resign(): Promise<void> {
    const { client, clock, logger, lease, identity } = this.#options
    const mayLead = this.#isWriting || (this.#term !== undefined && this.#isValid(this.#term))
    this.#resigned.abort()
    this.#end('it stops')
    if (!mayLead) return
    try {
      // If a write was in flight, the write has been aborted. The API server may nevertheless have executed this write, so the Lease is
      // read again.
      await retryOnConflict(
        async () => {
          const held = await client.get(coordination.lease, lease)
          if (held.spec?.holderIdentity !== identity) return
          await client.update(coordination.lease, { ...held, spec: released(held.spec, clock.now()) })
        },
        { clock, random: this.#random },
      )
      logger.info('released the lease')
    } catch (err) {
      logger.warn({ err }, 'the lease was not released: the next leader waits until it expires')
    }
  }

  /** Tries to acquire the lease until this replica leads or the signal aborts. */
  async #standBy(ended: AbortSignal): Promise<void> {
    const standing = new AbortController()
    const following = this.#follow(AbortSignal.any([ended, standing.signal]))
    while (!ended.aborted && this.#term === undefined) {
      // An open watch shows when another replica releases the lease. While a watch is open, the candidate therefore does not read a held
      // lease.
      if (!this.#followed || this.#msUntilFree() <= 0) await this.#attempt(ended)
      if (this.#term === undefined) await this.#pause(ended)
    }
    standing.abort()
    await following
  }

  /** Renews the lease until the term's signal `lost` or the signal `ended` aborts. */
  async #lead({ lost }: Term, ended: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#options
    const signal = AbortSignal.any([ended, lost])
    while (!signal.aborted) {
      await sleep(clock, retryPeriodMs, signal).catch(() => undefined)
      if (!signal.aborted) await this.#attempt(signal)
    }
  }

  /** Waits before the next attempt of the candidate. If the watch shows that the lease is free, the pause ends early. */
  async #pause(ended: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#options
    const left = this.#msUntilFree()
    const pauseMs = left <= 0 ? retryPeriodMs : this.#followed ? left : Math.min(left, retryPeriodMs)
    const paused = Promise.withResolvers<void>()
    this.#endPause = paused.resolve
    if (this.#isDue) paused.resolve()
    const timer = clock.after(pauseMs + this.#random() * jitter * retryPeriodMs, paused.resolve, true)
    ended.addEventListener('abort', this.#endPause, { once: true })
    await paused.promise
    ended.removeEventListener('abort', this.#endPause)
    timer.cancel()
    this.#isDue = false
  }

  #wake(): void {
    this.#isDue = true
    this.#endPause()
  }

  /** Watches the Lease until the signal aborts. Without a watch, a candidate notices a released lease only at its next read. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { client, clock, logger, lease, retryPeriodMs } = this.#options
    const { namespace, name } = lease
    const silenceMs = silentPeriods * retryPeriodMs
    while (!signal.aborted) {
      const silent = new AbortController()
      const end = (): void => silent.abort(new ProreusError('PRO_API_UNREACHABLE', `The watch was silent for ${silenceMs / 1000} s.`))
      let silence = clock.after(silenceMs, end)
      try {
        const onOpen = (): void => void (this.#followed = true)
        const either = AbortSignal.any([signal, silent.signal])
        const options = { namespace, fieldSelector: `metadata.name=${name}`, timeoutSeconds: watchSeconds, signal: either, onOpen }
        for await (const event of client.watch(coordination.lease, options)) {
          silence.cancel()
          silence = clock.after(silenceMs, end)
          // A deleted Lease is not free at once: the leader still leads, and creates the Lease again at the next renewal.
          if (event.type === 'DELETED') this.#deleted()
          else if (event.type !== 'BOOKMARK') this.#observe(event.object)
          if (this.#msUntilFree() <= 0) this.#wake()
        }
      } catch (error) {
        if (!signal.aborted) logger.debug({ error: messageOf(error) }, 'the Lease cannot be watched, so it is read from time to time')
      }
      silence.cancel()
      this.#followed = false
      // With an open watch, a pause lasts until the lease expires. Without a watch, it lasts at most `retryPeriodMs`, plus the random part.
      // This watch has ended, so the current pause is too long.
      this.#endPause()
      await sleep(clock, retryPeriodMs * (1 + this.#random()), signal).catch(() => undefined)
    }
  }

  /**
   * Tries once to acquire or to renew the lease. A failure is logged. The attempt has a time limit, so that there is time for another
   * attempt before the term ends. The limit includes the pauses after responses with a `Retry-After` header.
   */
  async #attempt(signal: AbortSignal): Promise<void> {
    const { clock, renewDeadlineMs } = this.#options
    const limit = new AbortController()
    const limitMs = Math.max(1000, renewDeadlineMs / 2)
    const late = new ProreusError('PRO_API_UNREACHABLE', `The Lease was not written within ${limitMs / 1000} s.`)
    const timer = clock.after(limitMs, () => limit.abort(late))
    const limited = AbortSignal.any([signal, limit.signal])
    try {
      // If the Lease has changed since this replica last saw the Lease, e.g. by a new label, the first write fails with a conflict. The
      // second write reads the Lease first.
      if ((await this.#write(limited)) === 'changed') await this.#write(limited)
      this.#problem = undefined
    } catch (error) {
      if (!signal.aborted) this.#report(error)
    } finally {
      timer.cancel()
    }
  }

  async #write(signal: AbortSignal): Promise<'done' | 'taken' | 'changed'> {
    const { client, clock, identity, leaseDurationMs, lease, metrics } = this.#options
    const { namespace, name, labels } = lease
    if (this.#term !== undefined && !this.#isOwn) metrics.slowpath()
    const current = this.#term !== undefined && this.#isOwn ? this.#observed?.lease : await this.#read(signal)
    if (this.#msUntilFree() > 0) {
      this.#end(`${this.leader ?? 'another replica'} has taken the lease`)
      return 'taken'
    }
    const sentAt = this.#now()
    const spec = heldBy({ identity, leaseDurationMs, now: clock.now() }, current?.spec ?? {})
    this.#isWriting = true
    try {
      const written =
        current === undefined
          ? await client.create(coordination.lease, { metadata: { namespace, name, ...(labels && { labels }) }, spec }, { signal })
          : await client.update(coordination.lease, { ...current, spec }, { signal })
      this.#observe(written)
      this.#isOwn = written.spec?.holderIdentity === identity
      if (this.#isOwn) this.#renewed(sentAt, written)
      return 'done'
    } catch (error) {
      this.#isOwn = false
      const hasChanged = isConflict(error) || isAlreadyExists(error) || (isNotFound(error) && current !== undefined)
      if (!hasChanged) throw error
      return 'changed'
    } finally {
      this.#isWriting = false
    }
  }

  /** Gets the Lease. If the Lease does not exist, calls `#deleted` and returns undefined. */
  async #read(signal: AbortSignal): Promise<coordination.Lease | undefined> {
    const { client, lease } = this.#options
    try {
      const found = await client.get(coordination.lease, lease, { signal })
      this.#observe(found)
      return found
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.#deleted()
      return undefined
    }
  }

  /**
   * Records that the Lease has been deleted. The leader may still lead, so a candidate waits until the deleted Lease would have expired. If
   * the duration in the deleted Lease is longer than the option `leaseDurationMs` of the candidate, the candidate waits only for
   * `leaseDurationMs`. Each of these durations begins when the candidate first saw the latest spec of the Lease. When `leaseDurationMs` is
   * over, a leader with the same options has ended its term.
   */
  #deleted(): void {
    if (this.#observed !== undefined) this.#observed.isDeleted = true
    this.#endPause()
  }

  /**
   * Stores the Lease in `#observed`. The field `at` of `#observed` is the time at which this replica first saw the current spec of the
   * Lease. If the spec has changed, `at` is set to the current time. If only other fields have changed, for example a label, `at` remains
   * the same.
   */
  #observe(lease: coordination.Lease): void {
    const before = this.#observed
    const same = before !== undefined && canonicalJson(before.lease.spec ?? {}) === canonicalJson(lease.spec ?? {})
    const leaderBefore = this.leader
    this.#observed = { lease, at: same ? before.at : this.#options.clock.monotonicNow(), isDeleted: false }
    const { leader } = this
    if (leader !== undefined && leader !== leaderBefore && leader !== this.#options.identity)
      this.#options.logger.info({ leader }, 'another replica is the leader')
  }

  /**
   * Returns the milliseconds until this replica may acquire the lease. If the value is 0 or less, this replica may acquire the lease now.
   */
  #msUntilFree(): number {
    if (this.#observed === undefined) return 0
    const { identity, leaseDurationMs, clock } = this.#options
    const { lease, at, isDeleted } = this.#observed
    const spec = lease.spec ?? {}
    if (!spec.holderIdentity || spec.holderIdentity === identity) return 0
    const duration = durationMs(spec, leaseDurationMs)
    return at + (isDeleted ? Math.min(duration, leaseDurationMs) : duration) - clock.monotonicNow()
  }

  /** Begins a term, or extends the current term. `sentAt` is the time at which the request was sent. */
  #renewed(sentAt: Instant, lease: coordination.Lease): void {
    const { clock, renewDeadlineMs, identity, logger, events, metrics } = this.#options
    const left = renewDeadlineMs - (clock.monotonicNow() - sentAt.monotonic)
    // If the response has arrived after the renew deadline, the renewal does not count.
    if (left <= 0) return
    const timer = clock.after(left, () => this.#end('the lease was not renewed in time'))
    if (this.#term !== undefined) {
      this.#term.timer.cancel()
      Object.assign(this.#term, { renewedAt: sentAt, timer })
      return
    }
    const abort = new AbortController()
    this.#term = { lost: abort.signal, abort, renewedAt: sentAt, timer }
    metrics.leading(true)
    logger.info({ identity }, 'became the leader')
    events.event(lease, 'Normal', 'LeaderElection', `${identity} became leader`)
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const begin of waiting) begin(this.#term)
  }

  /** Returns true while the term is valid. Ends an expired term whose timer is late, e.g. after the machine was suspended. */
  #isValid({ renewedAt }: CurrentTerm): boolean {
    const now = this.#now()
    // The monotonic clock of Linux stops while the machine is suspended, and the wall clock may be set back. Therefore the longer of the
    // two elapsed times counts.
    const elapsed = Math.max(now.monotonic - renewedAt.monotonic, now.wall - renewedAt.wall)
    if (elapsed < this.#options.renewDeadlineMs) return true
    this.#end('the lease was not renewed in time')
    return false
  }

  #end(why: string): void {
    const term = this.#term
    if (term === undefined) return
    const { logger, metrics } = this.#options
    this.#term = undefined
    term.timer.cancel()
    metrics.leading(false)
    logger[this.#resigned.signal.aborted ? 'info' : 'warn'](`no longer the leader: ${why}`)
    term.abort.abort(new ProreusError('PRO_ABORTED', `This replica is no longer the leader: ${why}.`))
  }

  #report(error: unknown): void {
    const { logger, lease } = this.#options
    const text = messageOf(error)
    const { namespace, name } = lease
    const missing = `; the namespace ${namespace} must exist: create it, or choose another one with --leader-elect-resource-namespace`
    const advice = isForbidden(error)
      ? `; leader election needs the verbs get, create, update and watch on leases.coordination.k8s.io in the namespace ${namespace}: grant them with the Role that "proreus generate" writes to config/rbac/leader_election_role.yaml, or disable it with --leader-elect=false`
      : isNotFound(error)
        ? missing
        : ''
    const level = this.#problem === text ? 'debug' : 'warn'
    this.#problem = text
    logger[level]({ err: error }, `the lease ${name} cannot be ${this.#term === undefined ? 'acquired' : 'renewed'}, trying again${advice}`)
  }

  #now(): Instant {
    const { clock } = this.#options
    return { monotonic: clock.monotonicNow(), wall: clock.now() }
  }
}
