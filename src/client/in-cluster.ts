/** Connects a process in a Pod to the API server of the same cluster, with the service account of the Pod. */
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../runtime/clock.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { Connection } from './connection.ts'
import type { Credentials } from './credentials.ts'
import { CachedCredentials } from './credentials.ts'

/** The folder in which the kubelet mounts the token, CA and namespace of the service account. */
export const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Time after which the files are read again: one minute, as in client-go. The kubelet replaces the token well before the token expires.
 * When the cluster's CA rotates, the kubelet replaces the file that contains the CA.
 */
const maxAgeMs = 60_000

/**
 * Returns a connection that uses the service account of this process's Pod; undefined outside a Pod, or if no service account is mounted.
 */
export async function inClusterConnection(options: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly directory?: string
  readonly clock: Clock
}): Promise<Connection | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = options.env
  if (!host || !port) return undefined
  const directory = options.directory ?? serviceAccountDirectory
  if ((await readToken(directory)) === undefined) return undefined // e.g. when `automountServiceAccountToken` is false
  const ca = await optionalFile(directory, 'ca.crt')
  const namespace = (await optionalFile(directory, 'namespace'))?.trim()
  const load = async (): Promise<Credentials> => {
    const [token, ca] = await Promise.all([readToken(directory), optionalFile(directory, 'ca.crt')])
    if (token === undefined) throw problem(`The token of this Pod's service account is no longer in ${directory}.`)
    return { authorization: `Bearer ${token}`, ...(ca === undefined ? {} : { ca }) }
  }
  const credentials = new CachedCredentials(load, { clock: options.clock, maxAgeMs, keepsPrevious: true })
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    ...(ca === undefined ? {} : { ca }),
    ...(namespace ? { namespace } : {}),
    authorization: (refused) => credentials.header(refused),
    tls: async () => {
      const { ca } = await credentials.get()
      return ca === undefined ? {} : { ca }
    },
    inCluster: true,
    describe: `the service account of this Pod (${directory})`,
  }
}

async function readToken(directory: string): Promise<string | undefined> {
  try {
    return (await readFile(join(directory, 'token'), 'utf8')).trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw problem(`The token of this Pod's service account cannot be read: ${messageOf(error)}.`, error)
  }
}

async function optionalFile(directory: string, name: string): Promise<string | undefined> {
  const path = join(directory, name)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw problem(`The file ${path} of this Pod's service account cannot be read: ${messageOf(error)}.`, error)
  }
}

function problem(message: string, cause?: unknown): ProreusError {
  return new ProreusError('PRO_KUBECONFIG', message, cause === undefined ? {} : { cause })
}
