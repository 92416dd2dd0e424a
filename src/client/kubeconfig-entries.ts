/**
 * Reads the entries of a kubeconfig and the credentials of its users. This file uses modules of client-node, but not the class
 * `KubeConfig`. That class loads the models of all Kubernetes types, which takes 45 MB of memory and half of the CPU time that a process
 * needs to start.
 */
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import type { Cluster, Context, User } from '@kubernetes/client-node/dist/config_types.js'
import { isObject } from '../api/json.ts'
import type { Credentials } from './credentials.ts'
import type { KubeconfigContent } from './kubeconfig-file.ts'

export interface KubeconfigEntries {
  readonly clusters: readonly Cluster[]
  readonly contexts: readonly Context[]
  readonly users: readonly User[]
}

/**
 * Returns copies of the entries in client-node's form. The users are deep copies, because the gcp and azure authenticators of client-node
 * write new tokens into a user.
 */
export async function entriesOf({ clusters, contexts, users }: KubeconfigContent): Promise<KubeconfigEntries> {
  const { newClusters, newContexts, newUsers } = await import('@kubernetes/client-node/dist/config_types.js')
  return { clusters: newClusters(clusters), contexts: newContexts(contexts), users: newUsers(structuredClone(users)) }
}

/**
 * Returns a function that reads the credentials of `user` from its files and from its auth provider. The authenticators of client-node
 * cache a token until it expires. When the server has rejected the token, call `credentialsReader` again. The new function does not use the
 * cached token.
 */
export function credentialsReader(user: User): () => Promise<Credentials> {
  let authenticator: Promise<Authenticator | undefined> | undefined
  return async () => {
    const options: RequestOptions & { headers: Record<string, string> } = { headers: {} }
    const files = { cert: await pemOf(user.certFile, user.certData), key: await pemOf(user.keyFile, user.keyData) }
    authenticator ??= authenticatorOf(user)
    await (await authenticator)?.applyAuthentication(user, options)
    if (user.token) options.headers.Authorization = `Bearer ${user.token}`
    const basic = user.username ? `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}` : undefined
    // A token from a file may end with a newline, which is not allowed in a header.
    const authorization = options.headers.Authorization?.trim() ?? basic
    const [cert, key] = [options.cert ?? files.cert, options.key ?? files.key]
    return {
      ...(authorization === undefined ? {} : { authorization }),
      ...(cert ? { cert: String(cert) } : {}),
      ...(key ? { key: String(key) } : {}),
    }
  }
}

async function pemOf(file: string | undefined, data: string | undefined): Promise<string | undefined> {
  if (file) return readFile(file, 'utf8')
  return data ? Buffer.from(data, 'base64').toString() : undefined
}

/** The part of client-node's interface `Authenticator` that this file uses. */
interface Authenticator {
  applyAuthentication(user: User, options: RequestOptions): Promise<void>
}

/**
 * Returns client-node's authenticator for the user. Returns undefined when the user needs no authenticator, or uses OpenID Connect, which
 * `OidcProvider` handles instead.
 */
async function authenticatorOf(user: User): Promise<Authenticator | undefined> {
  const provider: unknown = user.authProvider
  const name = isObject(provider) ? provider.name : undefined
  if (name === 'azure') return new (await import('@kubernetes/client-node/dist/azure_auth.js')).AzureAuth()
  if (name === 'gcp') return new (await import('@kubernetes/client-node/dist/gcp_auth.js')).GoogleCloudPlatformAuth()
  const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js')
  const { FileAuth } = await import('@kubernetes/client-node/dist/file_auth.js')
  return [new ExecAuth(), new FileAuth()].find((authenticator) => authenticator.isAuthProvider(user))
}
