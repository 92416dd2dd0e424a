/** Opens the store of the webhook server's certificates, and determines the names and addresses in the serving certificate. */
import { isIP } from 'node:net'
import type { Clock } from '../runtime/clock.ts'
import type { CertificateSource } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import { openFileCertificates } from '../certs/file-store.ts'
import { openSecretCertificates } from '../certs/secret-store.ts'
import type { CompleteOptions } from './run-options.ts'

type CertificateNames = {
  /** DNS names to include in the serving certificate, in addition to the Service's DNS names and the host of `webhook.url`. */
  readonly names?: readonly string[]
  /** IP addresses to include in the serving certificate, in addition to the loopback addresses. */
  readonly ips?: readonly string[]
}

/**
 * The store of the webhook server's certificates. With `files`, the store is a folder. With `secret`, the store is a Secret that all
 * replicas in the cluster share.
 */
export type CertificateOptions =
  | ({ readonly kind: 'files'; readonly directory: string } & CertificateNames)
  | ({ readonly kind: 'secret'; readonly namespace: string; readonly name: string } & CertificateNames)

type NamedOptions = Pick<CompleteOptions, 'certificates' | 'connection' | 'webhook' | 'service'>

interface CertifiedHosts {
  readonly names: readonly string[]
  readonly ips: readonly string[]
  /** The DNS name or IP address for which the API server verifies the serving certificate. */
  readonly expected: string
}

/** Returns the DNS names and IP addresses that the serving certificate must have. */
export function certificateNames(options: NamedOptions): CertifiedHosts {
  const { url } = options.webhook
  const urlHost = url === undefined ? undefined : new URL(url).hostname.replace(/^\[|\]$/g, '')
  const hosts = [
    ...(urlHost === undefined ? [] : [urlHost]),
    ...serviceHosts(options),
    ...(options.certificates.names ?? []),
    ...(options.certificates.ips ?? []),
    'localhost',
    '127.0.0.1',
    '::1',
  ]
  const unique = [...new Set(hosts)]
  return { names: unique.filter((host) => isIP(host) === 0), ips: unique.filter((host) => isIP(host) !== 0), expected: unique[0]! }
}

/**
 * Returns the DNS names of the webhook Service that the serving certificate must have. The names depend on the store of the certificate:
 *
 * - If the store is a Secret: `name.namespace.svc`, `name.namespace.svc.cluster.local` and `name.namespace`.
 * - If the store is a folder, and the process runs in the cluster or `webhook.service` is set: only `name.namespace.svc`. The API server
 *   uses only this name, and cert-manager can issue a certificate without the other names.
 * - In all other cases: none.
 */
function serviceHosts({ certificates, connection, webhook, service: { namespace, name } }: NamedOptions): readonly string[] {
  const service = `${name}.${namespace}`
  if (certificates.kind === 'secret') return [`${service}.svc`, `${service}.svc.cluster.local`, service]
  return connection.inCluster === true || webhook.service !== undefined ? [`${service}.svc`] : []
}

export interface OpenOptions {
  readonly certificates: CertificateOptions
  readonly names: readonly string[]
  readonly ips: readonly string[]
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  /**
   * Aborts the requests that `openCertificates` sends to read or write the Secret. After `openCertificates` has resolved, the signal has no
   * effect. If the certificates are in a folder, the signal never has an effect.
   */
  readonly signal: AbortSignal
}

/**
 * Opens the store of the certificates. Missing, expired or damaged certificates and keys are replaced. If the store is a folder, a
 * certificate that Proreus has not issued is never replaced, and neither is its key.
 */
export function openCertificates({ certificates, ...options }: OpenOptions): Promise<CertificateSource> {
  if (certificates.kind === 'files') return openFileCertificates({ ...options, directory: certificates.directory })
  return openSecretCertificates({ ...options, namespace: certificates.namespace, secretName: certificates.name })
}
