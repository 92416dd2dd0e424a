/**
 * Checks the webhook port in the same way as the API server: the TLS handshake must succeed, and the serving certificate must be valid
 * according to the published trust bundle.
 */
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { Clock } from '../runtime/clock.ts'
import type { CertificateSource } from '../certs/serving-certificate.ts'
import { checkServerIdentity, trust } from '../client/trust.ts'
import type { Check } from './health-handler.ts'
import { messageOf } from '../api/errors.ts'

export interface WebhookCheckOptions {
  /** The address on which the server listens. */
  readonly host?: string | undefined
  readonly port: number
  /** The DNS name or IP address for which the API server verifies the serving certificate. */
  readonly serverName: string
  readonly certificates: Pick<CertificateSource, 'current'>
  readonly clock: Clock
}

/**
 * Time in milliseconds for which a successful result is reused. Without this reuse, each readiness probe would make a TLS handshake, and
 * the signature in a handshake takes CPU time. When the trust bundle changes, the handshake is repeated at the next probe. Failures are
 * never reused.
 */
const trustMs = 5_000
/** Timeout of the handshake in milliseconds. It is shorter than one second, the kubelet's default timeout of a probe. */
const timeoutMs = 900

/** Returns the readiness check named `webhook`. */
export function webhookCheck(options: WebhookCheckOptions): Check {
  const { certificates, clock } = options
  let passed: { readonly at: number; readonly bundle: string } | undefined
  let dialing: Promise<string | undefined> | undefined

  async function dialOnce(): Promise<string | undefined> {
    const { caBundle } = certificates.current()
    const problem = await dial(options, caBundle)
    passed = problem === undefined ? { at: clock.monotonicNow(), bundle: caBundle } : undefined
    return problem
  }

  return {
    name: 'webhook',
    problem() {
      const { caBundle } = certificates.current()
      if (passed !== undefined && passed.bundle === caBundle && clock.monotonicNow() - passed.at < trustMs) return undefined
      dialing ??= dialOnce().finally(() => (dialing = undefined))
      return dialing
    },
  }
}

/**
 * Makes one TLS handshake with the webhook port of this process. Resolves to undefined if the handshake succeeds, and to the problem if the
 * handshake fails.
 */
function dial({ host, port, serverName }: WebhookCheckOptions, ca: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      ...trust(ca),
      host: loopbackFor(host),
      port,
      // SNI permits only DNS names, not IP addresses.
      servername: isIP(serverName) === 0 ? serverName : '',
      checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName, certificate),
      timeout: timeoutMs,
    })
    const fail = (problem: string): void => {
      resolve(problem)
      socket.destroy()
    }
    socket.once('secureConnect', () => {
      resolve(undefined)
      // `end` closes the connection gracefully. If the connection were reset, the server would log a failed handshake.
      socket.resume().end()
    })
    socket.on('timeout', () => fail(`port ${port} did not answer within ${timeoutMs} ms`))
    socket.on('error', (error) => fail(`port ${port} does not answer with a certificate that caBundle trusts: ${messageOf(error)}`))
  })
}

function loopbackFor(host: string | undefined): string {
  if (host === '::') return '::1'
  return host === undefined || host === '0.0.0.0' ? '127.0.0.1' : host
}
