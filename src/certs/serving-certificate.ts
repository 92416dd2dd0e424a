/** `CertificateSource`: the current certificate of a TLS server, and a notification of each renewal. */
import type { Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
import { messageOf } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'
import { readCertificate } from './certificate.ts'

/** A serving certificate with its key and trust bundle. */
export interface ServingCertificate {
  /** The leaf, followed by intermediates, as PEM. */
  readonly cert: string
  /** The private key of the leaf, as PEM. */
  readonly key: string
  /** All authorities to trust, as PEM: the one that signed the leaf, and unexpired earlier ones. */
  readonly caBundle: string
  readonly notAfter: Date
}

export interface CertificateSource {
  /** Returns a usable certificate and key: always the same object until they change. */
  current(): ServingCertificate
  /** Calls `listener` after each change; returns the function that removes it. */
  onChange(listener: (certificate: ServingCertificate) => void): () => void
  /** Renews the certificate when necessary until the signal aborts, then resolves. */
  start(signal: AbortSignal): Promise<void>
}

/** Returns the serving certificate for `pair`; `current` itself when nothing has changed. */
export function servingCertificate(
  pair: Omit<ServingCertificate, 'notAfter'>,
  current: ServingCertificate | undefined,
): ServingCertificate {
  const { cert, key, caBundle } = pair
  if (current !== undefined && current.cert === cert && current.key === key && current.caBundle === caBundle) return current
  return { cert, key, caBundle, notAfter: new Date(readCertificate(cert).notAfter) }
}

/** A source whose check can also be called at once. */
export interface RefreshingCertificateSource extends CertificateSource {
  /** Reads the store again and renews certificates if necessary. Rejects when that fails; the current certificate is then kept. */
  refresh(signal?: AbortSignal): Promise<void>
}

export interface RefreshOptions {
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The interval at which expiry times are compared with the clock: a timer set to the time of renewal would be late by the time for which
 * the machine was suspended.
 */
const checkEveryMs = 60_000

/**
 * Creates a source that calls `check` every minute; `check` returns its argument when nothing has to change. When a check fails, the
 * current certificate stays in service, and the error is logged once until it changes.
 */
export function refreshingSource(
  initial: ServingCertificate,
  check: (current: ServingCertificate, signal?: AbortSignal) => Promise<ServingCertificate>,
  { clock, logger }: RefreshOptions,
): RefreshingCertificateSource {
  let current = initial
  let lastProblem: string | undefined
  let checking: Promise<void> = Promise.resolve()
  const listeners = new Set<(certificate: ServingCertificate) => void>()

  async function checkOnce(signal?: AbortSignal): Promise<void> {
    const next = await check(current, signal)
    if (next === current) return
    current = next
    for (const listener of listeners) {
      try {
        listener(next)
      } catch (error) {
        logger.error({ err: error }, 'a listener for certificate changes failed')
      }
    }
  }

  /** One check at a time: two concurrent ones could both issue a leaf. */
  function refresh(signal?: AbortSignal): Promise<void> {
    const result = checking.then(() => checkOnce(signal))
    checking = result.catch(() => undefined) // the caller gets the error
    return result
  }

  function report(error: unknown): void {
    const problem = messageOf(error)
    const expired = current.notAfter.getTime() <= clock.now()
    const level = expired ? 'error' : 'warn'
    const text = `${expired ? 'serving an expired certificate' : `serving the certificate that is valid until ${current.notAfter.toISOString()}`}: ${problem}`
    if (text !== lastProblem) logger[level](text)
    lastProblem = text
  }

  return {
    current: () => current,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    refresh,
    async start(signal) {
      while (!signal.aborted) {
        try {
          await refresh(signal)
          lastProblem = undefined
        } catch (error) {
          if (!signal.aborted) report(error)
        }
        await sleep(clock, checkEveryMs, signal).catch(() => undefined) // the abort ends the loop
      }
    },
  }
}
