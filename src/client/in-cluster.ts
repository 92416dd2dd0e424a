/** Connects a Pod to the API server of its own cluster, with its service account. */
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../runtime/clock.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { Connection } from './connection.ts'
import { CachedCredentials } from './credentials.ts'

/** The folder in which the kubelet mounts the token, CA and namespace of the service account. */
export const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Time after which the token file is read again: one minute, as in client-go. The kubelet replaces the token well before the token
 * expires.
 */
const tokenMaxAgeMs = 60_000

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
  const readToken = async (): Promise<string> => (await readFile(join(directory, 'token'), 'utf8')).trim()
  try {
    await readToken()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined // with `automountServiceAccountToken: false`
    throw new ProreusError('PRO_KUBECONFIG', `The token of this Pod's service account cannot be read: ${messageOf(error)}.`, {
      cause: error,
    })
  }
  const ca = await optionalFile(join(directory, 'ca.crt'))
  const namespace = (await optionalFile(join(directory, 'namespace')))?.trim()
  const credentials = new CachedCredentials(async () => ({ authorization: `Bearer ${await readToken()}` }), {
    clock: options.clock,
    maxAgeMs: tokenMaxAgeMs,
  })
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    ...(ca === undefined ? {} : { ca }),
    ...(namespace ? { namespace } : {}),
    authorization: async (refused) => (await credentials.get(refused)).authorization,
    inCluster: true,
    describe: `the service account of this Pod (${directory})`,
  }
}

async function optionalFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ProreusError('PRO_KUBECONFIG', `The file ${path} of this Pod's service account cannot be read: ${messageOf(error)}.`, {
      cause: error,
    })
  }
}
