/** Where the webhook server's certificate is kept, and for which names it is. */
import { isIP } from 'node:net'
import type { Clock } from '../api/clock.ts'
import type { CertificateSource } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import { openFileCertificates } from '../certs/file-store.ts'
import { openSecretCertificates } from '../certs/secret-store.ts'
import { webhookServiceName } from './names.ts'

type CertificateNames = {
  /** Further DNS names. */
  readonly names?: readonly string[]
  /** Further IP addresses. */
  readonly ips?: readonly string[]
}

/** Files for a run outside the cluster; a Secret, shared by all replicas, inside. */
export type CertificateOptions =
  | ({ readonly kind: 'files'; readonly directory: string } & CertificateNames)
  | ({ readonly kind: 'secret'; readonly namespace: string; readonly name: string; readonly serviceName?: string } & CertificateNames)

/** The names and addresses that the certificate is for; the first name is the one that the API server is told to expect. */
export function certificateNames(options: CertificateOptions, url?: string): { names: readonly string[]; ips: readonly string[] } {
  const urlHost = url === undefined ? undefined : new URL(url).hostname.replace(/^\[|\]$/g, '')
  const hosts = [
    ...(urlHost === undefined ? [] : [urlHost]),
    ...serviceHosts(options),
    ...(options.names ?? []),
    ...(options.ips ?? []),
    'localhost',
    '127.0.0.1',
    '::1',
  ]
  const unique = [...new Set(hosts)]
  return { names: unique.filter((host) => isIP(host) === 0), ips: unique.filter((host) => isIP(host) !== 0) }
}

/** The API server calls a Service as `name.namespace.svc`. */
function serviceHosts(options: CertificateOptions): readonly string[] {
  if (options.kind !== 'secret') return []
  const service = `${options.serviceName ?? webhookServiceName}.${options.namespace}`
  return [`${service}.svc`, `${service}.svc.cluster.local`, service]
}

export interface OpenOptions {
  readonly certificates: CertificateOptions
  readonly names: readonly string[]
  readonly ips: readonly string[]
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  /** Aborts the opening. */
  readonly signal: AbortSignal
}

/** Opens the store; a missing, expired or damaged pair is replaced. */
export function openCertificates({ certificates, ...options }: OpenOptions): Promise<CertificateSource> {
  if (certificates.kind === 'files') return openFileCertificates({ ...options, directory: certificates.directory })
  return openSecretCertificates({ ...options, namespace: certificates.namespace, secretName: certificates.name })
}
