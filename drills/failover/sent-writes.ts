/**
 * `reportSentWrites`: reports the writes of a replica to the drill, including the requests that release the Lease. Each report contains the
 * time at which the request was sent.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Clock, coordination } from '../../src/index.ts'
import { systemClock } from '../../src/index.ts'

/** A write request that a replica has written to a connection. The times are milliseconds since 1970. */
export interface SentWrite {
  /** The field manager of the request. It is unique, and the API server's audit log contains it. */
  readonly id: string
  /** The time at which the guard of leader election checked that the replica held the Lease. */
  readonly checkedAt: number
  /**
   * The time immediately before the request was written. If the process is paused between the check and the write, `sentAt` is much later
   * than `checkedAt`.
   */
  readonly sentAt: number
  /** The local port of the connection. */
  readonly port: number
}

/** A request that releases the Lease. From `releasedAt` on, the replica does not hold the Lease until it acquires the Lease again. */
export interface SentRelease {
  readonly releasedAt: number
}

/** A message that undici publishes immediately before it writes a request. The type contains only the fields that this file uses. */
interface SendHeaders {
  readonly request: { readonly method: string; readonly path: string; readonly body: unknown }
  readonly socket: Socket
}

/**
 * Calls `report` with a `SentRelease` for each request that releases the Lease, and with a `SentWrite` for each PATCH request that this
 * process sends with a field manager.
 *
 * Returns a clock. The caller must pass this clock to `run`, because the guard of leader election must read the time from this clock. The
 * value of `checkedAt` in a `SentWrite` depends on the time of the write:
 *
 * - If undici writes the request synchronously after the guard has read the time, `checkedAt` is the time that the guard has read.
 * - If undici writes the request later, `checkedAt` equals `sentAt`.
 */
export function reportSentWrites(report: (sent: SentWrite | SentRelease) => void): Clock {
  let checkedAt: number | undefined
  subscribe('undici:client:sendHeaders', (message) => {
    const { request, socket } = message as SendHeaders
    const id = request.method === 'PATCH' ? writeIdOf(request.path.split('?')[1] ?? '') : undefined
    const sentAt = Date.now()
    if (isRelease(request)) report({ releasedAt: sentAt })
    if (id !== undefined) report({ id, checkedAt: checkedAt ?? sentAt, sentAt, port: socket.localPort ?? 0 })
  })
  return {
    ...systemClock,
    now() {
      queueMicrotask(() => (checkedAt = undefined))
      return (checkedAt = systemClock.now())
    },
  }
}

/** Returns true for a request that removes the holder of a Lease. */
function isRelease({ method, path, body }: SendHeaders['request']): boolean {
  if (method !== 'PUT' || !path.includes('/leases/')) return false
  const { spec } = JSON.parse(String(body)) as coordination.Lease
  return spec?.holderIdentity === ''
}

/** Returns the id of a write; undefined for a request without a field manager. */
export function writeIdOf(query: string): string | undefined {
  return new URLSearchParams(query).get('fieldManager') ?? undefined
}
