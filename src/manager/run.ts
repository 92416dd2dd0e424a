/** `run`: operators against an API server, from the start to the ordered stop. */
import type { Operator } from './operator.ts'
import type { RunOptions } from './run-options.ts'
import type { Parts } from './life-cycle.ts'
import { Cache } from '../cache/cache.ts'
import { injectCaBundle } from '../certs/injector.ts'
import { createClient } from '../client/client.ts'
import { createWebhookServer } from '../webhook/server.ts'
import { openCertificates } from './certificates.ts'
import { live } from './life-cycle.ts'
import { checkOperators } from './operator.ts'
import { checkPermissions } from './permissions.ts'
import { withDefaults } from './run-options.ts'

export type { CertificateOptions } from './certificates.ts'
export type { Endpoints, InjectionTargets, RunOptions, WebhookOptions } from './run-options.ts'

const parts: Parts = {
  createClient,
  checkPermissions,
  openCertificates,
  createWebhookServer,
  injectCaBundle,
  createCache: (client, options) => new Cache(client, options),
  elected: () => Promise.resolve(),
}

/**
 * Runs operators: serves their webhooks, keeps the certificates and reconciles, until `signal` aborts; resolves after an ordered stop.
 * Once started it goes on whatever happens: a missing CRD or an API server that is away is waited for, a controller that fails is logged.
 *
 * @example
 * await run([operator], { connection, signal, certificates: { kind: 'files', directory: 'certs' } })
 *
 * @throws {ProreusError} when it cannot start: `PRO_PORT_IN_USE`, `PRO_CERTIFICATE`, `PRO_PERMISSION`, `PRO_API_UNREACHABLE`, `PRO_CONFIG_INVALID`.
 */
export async function run(operators: readonly Operator[], options: RunOptions): Promise<void> {
  checkOperators(operators)
  await live(operators, withDefaults(options), parts)
}
