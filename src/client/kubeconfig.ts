/** `loadConnection`: finds the API server to connect to, and the credentials for it. */
import { X509Certificate } from 'node:crypto'
import { access, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js'
import type { Clock } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnObject, isClock, isText, refuseOptions } from '../api/option-checks.ts'
import type { Connection } from './connection.ts'
import type { Credentials } from './credentials.ts'
import { CachedCredentials } from './credentials.ts'
import { ExecPlugin } from './exec-plugin.ts'
import { inClusterConnection } from './in-cluster.ts'
import type { KubeconfigEntries } from './kubeconfig-entries.ts'
import { credentialsReader, entriesOf } from './kubeconfig-entries.ts'
import type { KubeconfigContent } from './kubeconfig-file.ts'
import { impersonationOf, readKubeconfig } from './kubeconfig-file.ts'
import { OidcProvider } from './oidc-provider.ts'
import { proxyFromEnvironment } from './proxy-from-environment.ts'

export interface KubeconfigOptions {
  /** The path of the kubeconfig, e.g. from `--kubeconfig`. This path takes precedence over `KUBECONFIG`. An empty path is ignored. */
  readonly kubeconfig?: string
  /** The context to use instead of the kubeconfig's `current-context`. An empty name is ignored. */
  readonly context?: string
  /**
   * The environment variables. `KUBECONFIG`, `HOME` (or `USERPROFILE`), `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` and the variables that
   * Kubernetes sets in Pods are read.
   */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder in which the kubelet mounts the service account; `serviceAccountDirectory` when absent. */
  readonly inClusterRoot?: string
  readonly clock?: Clock
}

const checkOptions = hasOptions(
  {
    kubeconfig: isText,
    context: isText,
    env: isAnObject,
    inClusterRoot: isText,
    clock: isClock,
  } satisfies Record<keyof KubeconfigOptions, OptionCheck>,
  ['env'],
)

/** Time in milliseconds for which credentials are cached. Without a cache, certificate files would be read for every request. */
const credentialsMaxAgeMs = 10_000

/**
 * Returns the connection to the API server from the first of these sources that applies:
 *
 * - the file `kubeconfig`, if the option is set
 * - the files in `$KUBECONFIG`, merged as in kubectl, if the variable is set
 * - the Pod's service account, if the Pod has a service account and `context` is not set
 * - `~/.kube/config`, if the file exists
 *
 * Requests use the proxy in `proxy-url` of the kubeconfig. Without a `proxy-url`, `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` select the
 * proxy, as in kubectl.
 *
 * @throws {ProreusError} `PRO_KUBECONFIG` when no source applies, or when the first source that applies is unusable, e.g. because a file is
 *   missing.
 */
export async function loadConnection(options: KubeconfigOptions): Promise<Connection> {
  refuseOptions('loadConnection', checkOptions(options, ''))
  const { env } = options
  const kubeconfig = options.kubeconfig || undefined
  const listed = kubeconfig ?? env.KUBECONFIG
  if (listed !== undefined && listed !== '') {
    const files = kubeconfig === undefined ? listed.split(delimiter).filter((file) => file !== '') : [listed]
    const existing = kubeconfig === undefined && files.length > 1 ? await filterExisting(files) : files
    if (existing.length === 0)
      throw problem(`None of the files in KUBECONFIG=${listed} exists: correct the variable, or name a file with --kubeconfig.`)
    return fromFiles(existing, options)
  }
  if (!options.context) {
    const directory = options.inClusterRoot === undefined ? {} : { directory: options.inClusterRoot }
    const inCluster = await inClusterConnection({ env, clock: options.clock ?? systemClock, ...directory })
    if (inCluster !== undefined) return { ...inCluster, ...proxyOf(inCluster.server, env) }
  }
  const home = env.HOME ?? env.USERPROFILE
  const file = home === undefined ? undefined : join(home, '.kube', 'config')
  if (file !== undefined && (await filterExisting([file])).length === 1) return fromFiles([file], options)
  throw problem(
    `No kubeconfig was found: name one with --kubeconfig or KUBECONFIG${file === undefined ? '' : `, or create ${file}`}; in a Pod, its service account token must be mounted.`,
  )
}

function problem(message: string, cause?: unknown): ProreusError {
  return new ProreusError('PRO_KUBECONFIG', message, cause === undefined ? {} : { cause })
}

async function filterExisting(files: readonly string[]): Promise<string[]> {
  const existing: string[] = []
  for (const file of files) {
    try {
      await access(file)
      existing.push(file)
    } catch (error) {
      // A file that exists and cannot be opened stays in the list. `readKubeconfig` then reports the error.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') existing.push(file)
    }
  }
  return existing
}

async function fromFiles(files: readonly string[], options: KubeconfigOptions): Promise<Connection> {
  const { context: contextName, clock = systemClock, env } = options
  const content = await readKubeconfig(files)
  const entries = await readEntries(content)
  const source = `kubeconfig ${files.join(delimiter)}`
  const name = contextName || content.currentContext
  const known = content.contexts.map((context) => context.name).join(', ')
  if (!name)
    throw problem(`The ${source} has no current-context: choose one with --context (there ${known === '' ? 'are none' : `is ${known}`}).`)
  const context = entries.contexts.find((entry) => entry.name === name)
  if (context === undefined) throw problem(`The ${source} has no context "${name}": it has ${known === '' ? 'none at all' : known}.`)
  const describe = `${source}, context ${name}`
  const cluster = entries.clusters.find((entry) => entry.name === context.cluster)
  if (cluster === undefined) throw problem(`The context "${name}" of ${source} names the cluster "${context.cluster}", which is not there.`)
  const user = context.user ? entries.users.find((entry) => entry.name === context.user) : undefined
  if (context.user && user === undefined)
    throw problem(`The context "${name}" of ${source} names the user "${context.user}", who is not there.`)
  const ca = await caOf(cluster, describe)
  // Like kubectl, this client never sends credentials over plain HTTP.
  const secure = cluster.server.startsWith('https:')
  const impersonation = user === undefined ? undefined : impersonationOf(content, user.name)
  return {
    server: cluster.server,
    ...(ca === undefined ? {} : { ca }),
    ...(cluster.skipTLSVerify ? { insecureSkipTlsVerify: true } : {}),
    ...(cluster.tlsServerName ? { serverName: cluster.tlsServerName } : {}),
    ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : proxyOf(cluster.server, env)),
    ...(context.namespace ? { namespace: context.namespace } : {}),
    ...(impersonation === undefined ? {} : { headers: impersonation }),
    ...(secure && user !== undefined
      ? credentialsOf({
          content,
          user,
          plugin: pluginOf(content, user.name, cluster.name, ca, describe, options),
          describe,
          clock,
        })
      : {}),
    describe,
  }
}

function proxyOf(server: string, env: KubeconfigOptions['env']): Pick<Connection, 'proxyUrl'> {
  const proxyUrl = proxyFromEnvironment(server, env)
  return proxyUrl === undefined ? {} : { proxyUrl }
}

async function caOf(cluster: Cluster, describe: string): Promise<string | undefined> {
  let ca: string
  if (cluster.caData) ca = Buffer.from(cluster.caData, 'base64').toString()
  else if (cluster.caFile) {
    try {
      ca = await readFile(cluster.caFile, 'utf8')
    } catch (error) {
      throw problem(`The certificate-authority ${cluster.caFile} of ${describe} cannot be read: ${messageOf(error)}.`, error)
    }
  } else return undefined
  try {
    new X509Certificate(ca)
  } catch (error) {
    throw problem(`The certificate-authority of ${describe} is not a PEM certificate: ${messageOf(error)}.`, error)
  }
  return ca
}

/** Loads credentials from another program or server. `refresh` is true when the API server has rejected the previous credentials. */
interface CredentialPlugin {
  load(refresh: boolean): Promise<Credentials>
}

/**
 * Returns the user's exec plugin or OpenID Connect provider; undefined when the user has neither. If the user has a token or a username,
 * the function returns undefined, because the token or the username takes precedence, as in kubectl.
 *
 * @throws {ProreusError} `PRO_KUBECONFIG` when the `exec` or `auth-provider` entry is invalid.
 */
function pluginOf(
  content: KubeconfigContent,
  userName: string,
  clusterName: string,
  ca: string | undefined,
  describe: string,
  { env, clock = systemClock }: KubeconfigOptions,
): CredentialPlugin | undefined {
  const user = content.users.find((entry) => entry.name === userName)?.user
  const cluster = content.clusters.find((entry) => entry.name === clusterName)?.cluster
  if (!isObject(user) || user.token || user.tokenFile || user.username) return undefined
  const provider = isObject(user['auth-provider']) ? user['auth-provider'] : {}
  try {
    if (isObject(user.exec)) {
      const isTerminal = process.stdin.isTTY === true
      return new ExecPlugin({ exec: user.exec, cluster: isObject(cluster) ? cluster : {}, ca, env, clock, isTerminal })
    }
    if (isOidc(user)) return new OidcProvider({ config: isObject(provider.config) ? provider.config : {}, env, clock })
    return undefined
  } catch (error) {
    const what = isObject(user.exec) ? 'exec plugin' : 'auth-provider'
    throw problem(`The user "${userName}" in ${describe} has an invalid ${what}: ${messageOf(error)}.`, error)
  }
}

function isOidc(user: unknown): user is JsonObject {
  return isObject(user) && isObject(user['auth-provider']) && user['auth-provider'].name === 'oidc'
}

interface CredentialsSource {
  readonly content: KubeconfigContent
  readonly user: User
  /** The credential plugin of `user`. */
  readonly plugin: CredentialPlugin | undefined
  readonly describe: string
  readonly clock: Clock
}

/** Returns the functions `authorization` and `tls` of a connection. Both functions use the same cache of the credentials. */
function credentialsOf(source: CredentialsSource): Pick<Connection, 'authorization' | 'tls'> {
  const { content, user, plugin, describe, clock } = source
  let read = credentialsReader(user)
  const load = async (refresh: boolean): Promise<Credentials> => {
    try {
      if (plugin !== undefined) return await plugin.load(refresh)
      if (refresh) read = credentialsReader((await readEntries(content)).users.find(({ name }) => name === user.name) ?? user)
      return await read()
    } catch (error) {
      const hint = !isObject(user.exec) ? '' : ` (its exec plugin is ${String((user.exec as { command?: unknown }).command)})`
      throw problem(`The credentials of user "${user.name}" in ${describe} cannot be had${hint}: ${messageOf(error).trim()}.`, error)
    }
  }
  const credentials = new CachedCredentials(load, { clock, maxAgeMs: credentialsMaxAgeMs })
  return {
    authorization: (refused) => credentials.header(refused),
    tls: (refused) => credentials.get(refused),
  }
}

async function readEntries(content: KubeconfigContent): Promise<KubeconfigEntries> {
  // `OidcProvider` replaces the auth-provider `oidc`. The entry of this auth-provider is therefore not passed to client-node.
  const users = content.users.map((entry) => (isOidc(entry.user) ? { ...entry, user: { ...entry.user, 'auth-provider': null } } : entry))
  try {
    return await entriesOf({ ...content, users })
  } catch (error) {
    throw problem(`The kubeconfig ${content.files.join(delimiter)} cannot be used: ${messageOf(error)}.`, error)
  }
}
