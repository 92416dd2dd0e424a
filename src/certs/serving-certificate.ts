/** `CertificateSource`: provides the current certificate of a TLS server, and notifies listeners of each renewal. */
import type { Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
import { messageOf } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'
import { readCertificate } from './certificate.ts'

/** A serving certificate, its private key, and the trust bundle with which clients verify the certificate. */
export interface ServingCertificate {
  /** The leaf certificate, followed by intermediates, as PEM. */
  readonly cert: string
  /** The private key of the leaf, as PEM. */
  readonly key: string
  /**
   * The trust bundle, as PEM: the CA that signed the leaf, and other CAs that clients must trust, such as replaced CAs that have not
   * expired.
   */
  readonly caBundle: string
  readonly notAfter: Date
}

export interface CertificateSource {
  /** Returns the certificate and key to serve. The result is the same object until the certificate, the key or the trust bundle changes. */
  current(): ServingCertificate
  /** Calls `listener` whenever the result of `current` has changed. The returned function removes the listener. */
  onChange(listener: (certificate: ServingCertificate) => void): () => void
  /** Checks the certificate every minute until the signal aborts, and renews it when necessary. Resolves after the signal has aborted. */
  start(signal: AbortSignal): Promise<void>
}

/**
 * Returns the serving certificate for `pair`. If `current` has the same certificate, key and trust bundle, the result is `current` itself.
 */
export function servingCertificate(
  pair: Omit<ServingCertificate, 'notAfter'>,
  current: ServingCertificate | undefined,
): ServingCertificate {
  const { cert, key, caBundle } = pair
  if (current !== undefined && current.cert === cert && current.key === key && current.caBundle === caBundle) return current
  return { cert, key, caBundle, notAfter: new Date(readCertificate(cert).notAfter) }
}

/**
 * A certificate source with the additional method `refresh`. The method `start` checks the certificate every minute, and the method
 * `refresh` checks it at once.
 */
export interface RefreshingCertificateSource extends CertificateSource {
  /**
   * Reads the store again, and renews certificates if necessary. Rejects when reading or renewing fails. In this case, the result of
   * `current` does not change.
   */
  refresh(signal?: AbortSignal): Promise<void>
}

export interface RefreshOptions {
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The interval between two checks, in milliseconds. A single timer for the time of the next renewal is not sufficient. Timers do not
 * advance while the machine is suspended, so this timer could fire too late.
 */
const checkEveryMs = 60_000

/**
 * Creates a certificate source that first serves `initial`. The source's method `start` calls `check` every minute, and logs the errors of
 * `check`. Consecutive equal errors are logged once.
 *
 * @param check returns the certificate to serve. If nothing has to change, `check` returns its first argument. Otherwise, `check` returns a
 *   new certificate. If `check` fails, the source keeps the current certificate.
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

  /** Runs a check after all previous checks have ended. If two checks ran concurrently, each check could issue a leaf certificate. */
  function refresh(signal?: AbortSignal): Promise<void> {
    const result = checking.then(() => checkOnce(signal))
    checking = result.catch(() => undefined) // the caller of `refresh` gets the error
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
        await sleep(clock, checkEveryMs, signal).catch(() => undefined) // an abort rejects `sleep`, and then ends the loop
      }
    },
  }
}
