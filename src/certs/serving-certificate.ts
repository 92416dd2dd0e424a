/** `CertificateSource`: where a TLS server gets its certificate, now and after each renewal. */
import type { Clock } from '../api/clock.ts'
import { sleep } from '../api/clock.ts'
import { messageOf } from '../api/errors.ts'
import type { Logger } from '../telemetry/logger.ts'
import { readCertificate } from './certificate.ts'

/** What a TLS server presents, and what its clients must trust for it. */
export interface ServingCertificate {
  /** The leaf, and what stands between it and the authority, as PEM. */
  readonly cert: string
  /** The private key of the leaf, as PEM. */
  readonly key: string
  /** Every authority to trust, as PEM: the one that signed the leaf, and those before it that have not expired. */
  readonly caBundle: string
  readonly notAfter: Date
}

export interface CertificateSource {
  /** Always a usable pair; the same object until it changes. */
  current(): ServingCertificate
  /** Calls `listener` after each change; gives the function that ends that. */
  onChange(listener: (certificate: ServingCertificate) => void): () => void
  /** Keeps the certificate fresh until the signal aborts, then resolves. */
  start(signal: AbortSignal): Promise<void>
}

/** The pair as it is to be served; the very object `current` when nothing about it changed. */
export function servingCertificate(
  pair: Omit<ServingCertificate, 'notAfter'>,
  current: ServingCertificate | undefined,
): ServingCertificate {
  const { cert, key, caBundle } = pair
  if (current !== undefined && current.cert === cert && current.key === key && current.caBundle === caBundle) return current
  return { cert, key, caBundle, notAfter: new Date(readCertificate(cert).notAfter) }
}

/** A source that can be asked to look at once, without waiting for the next round. */
export interface RefreshingCertificateSource extends CertificateSource {
  /** Reads the store again and renews what is due. Rejects when that fails; the current certificate then stays. */
  refresh(signal?: AbortSignal): Promise<void>
}

export interface RefreshOptions {
  readonly clock: Clock
  readonly logger: Logger
}

/** Wall-clock time is compared this often: a one-shot timer would be late by the time that a machine was suspended. */
const checkEveryMs = 60_000

/**
 * A source that asks `check` each minute what to serve; `check` gives back what it was given when nothing has to change.
 * A failing check leaves the current certificate in service and is logged once for each different message.
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

  /** One check at a time: two at once could both issue a leaf. */
  function refresh(signal?: AbortSignal): Promise<void> {
    const result = checking.then(() => checkOnce(signal))
    checking = result.catch(() => undefined) // whoever asked gets the error
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
