/** `ExecPlugin`: runs the credential plugin of a kubeconfig user, like kubectl (`k8s.io/client-go/plugin/pkg/client/auth/exec`). */
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { quote } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Credentials } from './credentials.ts'
import { PluginErrors } from './plugin-errors.ts'

/** The fields of `users[].user.exec` in a kubeconfig. */
interface ExecConfig {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  /** The environment variables of the plugin, in addition to the environment variables of this process. */
  readonly env: Readonly<Record<string, string>>
  /** Advice on installing the command. */
  readonly installHint: string | undefined
  readonly provideClusterInfo: boolean
  readonly interactive: boolean
}

export interface ExecPluginOptions {
  /** The `exec` entry of the kubeconfig's user. */
  readonly exec: JsonObject
  /** The `cluster` entry of the kubeconfig. All file paths in this entry are absolute. */
  readonly cluster: JsonObject
  /** The CA of the cluster as PEM. */
  readonly ca: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** True if a person can answer a question of the plugin on the terminal. */
  readonly isTerminal: boolean
}

const apiVersions: readonly string[] = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']
const interactiveModes: readonly unknown[] = [undefined, 'Never', 'IfAvailable', 'Always']
/**
 * Time limit in milliseconds of a plugin that is not interactive. client-go has no such limit, so a plugin that hangs blocks all requests
 * of client-go.
 */
const limitMs = 55_000
/** Maximum number of characters of the plugin's output. A typical `ExecCredential` has a few kilobytes. */
const maxOutput = 1024 * 1024

/**
 * Runs a credential plugin and caches the credentials. The cache is valid until the `expirationTimestamp` of the credentials, or until the
 * server rejects the credentials. Concurrent callers share one run of the plugin.
 */
export class ExecPlugin {
  readonly #options: ExecPluginOptions
  readonly #config: ExecConfig
  #cached: { readonly credentials: Credentials; readonly expiresAt: number } | undefined
  #running: Promise<Credentials> | undefined

  /** @throws {Error} when the `exec` entry is invalid. */
  constructor(options: ExecPluginOptions) {
    this.#options = options
    this.#config = configOf(options.exec, options.isTerminal)
  }

  /** Returns the credentials. With `refresh`, the plugin runs even if the cached credentials have not expired. */
  load(refresh: boolean): Promise<Credentials> {
    if (this.#running !== undefined) return this.#running
    if (!refresh && this.#cached !== undefined && this.#options.clock.now() < this.#cached.expiresAt)
      return Promise.resolve(this.#cached.credentials)
    this.#running = this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #run(): Promise<Credentials> {
    const status = this.#statusOf(await this.#output())
    const { expirationTimestamp } = status
    const expiresAt = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY
    if (Number.isNaN(expiresAt)) throw new Error(`its expirationTimestamp ${quote(String(expirationTimestamp))} is not a time`)
    const credentials = credentialsOf(status)
    this.#cached = { credentials, expiresAt }
    return credentials
  }

  /** Returns the `ExecCredential` that the plugin receives in `KUBERNETES_EXEC_INFO`. */
  #request(): JsonObject {
    const { apiVersion, interactive, provideClusterInfo } = this.#config
    return {
      kind: 'ExecCredential',
      apiVersion,
      spec: { ...(provideClusterInfo && { cluster: this.#clusterInfo() }), interactive },
    }
  }

  #clusterInfo(): JsonObject {
    const { cluster, ca } = this.#options
    const copied = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url', 'disable-compression']
    const info: JsonObject = Object.fromEntries(copied.filter((name) => cluster[name] !== undefined).map((name) => [name, cluster[name]!]))
    if (ca !== undefined) info['certificate-authority-data'] = Buffer.from(ca).toString('base64')
    const extensions = Array.isArray(cluster.extensions) ? cluster.extensions : []
    const own = extensions.find((each) => isObject(each) && each.name === 'client.authentication.k8s.io/exec')
    return { ...info, config: isObject(own) ? (own.extension ?? null) : null }
  }

  #statusOf(output: string): JsonObject {
    let answer: unknown
    try {
      answer = JSON.parse(output)
    } catch {
      // The error of the parser is omitted: it quotes the output, which may contain a token.
      throw new Error('its output is not JSON: an ExecCredential is expected')
    }
    if (!isObject(answer) || answer.kind !== 'ExecCredential') throw new Error('its output is not an ExecCredential')
    if (answer.apiVersion !== this.#config.apiVersion)
      throw new Error(`its output has the apiVersion ${quote(String(answer.apiVersion))}; expected is ${quote(this.#config.apiVersion)}`)
    if (!isObject(answer.status)) throw new Error('its output has no status')
    return answer.status
  }

  /**
   * Runs the command, and returns its standard output. An interactive plugin inherits standard input, so the plugin can ask questions on
   * the terminal.
   */
  #output(): Promise<string> {
    const { command, args, interactive, installHint } = this.#config
    const env = { ...this.#options.env, ...this.#config.env, KUBERNETES_EXEC_INFO: JSON.stringify(this.#request()) }
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        env,
        windowsHide: true,
        stdio: interactive ? ['inherit', 'pipe', 'inherit'] : ['ignore', 'pipe', 'pipe'],
      })
      // The plugin alone does not keep this process alive. A request that waits for the credentials keeps this process alive. When this
      // process exits, `kill` ends the plugin.
      for (const handle of [child, child.stdout as Socket | null, child.stderr as Socket | null]) handle?.unref()
      const kill = (): void => {
        child.kill('SIGKILL')
        // A child process of the plugin may keep the pipes open. Node.js then emits `close` only if the pipes are destroyed here.
        child.stdout?.destroy()
        child.stderr?.destroy()
      }
      const limit = interactive ? undefined : this.#options.clock.after(limitMs, kill)
      process.once('exit', kill)
      let output = ''
      const errors = new PluginErrors((text) => void process.stderr.write(text))
      child.on('error', (cause: NodeJS.ErrnoException) => {
        limit?.cancel()
        process.off('exit', kill)
        const hint = installHint === undefined ? '' : ` (${installHint.trim()})`
        reject(cause.code === 'ENOENT' ? new Error(`the command was not found${hint}`, { cause }) : cause)
      })
      child.on('close', (code, signal) => {
        limit?.cancel()
        process.off('exit', kill)
        errors.close()
        const message = errors.message()
        if (code === 0) resolve(output)
        else reject(new Error(`${endOf(code, signal, output)}${message === '' ? '' : `: ${message}`}`))
      })
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.length > maxOutput) kill()
      })
      child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.add(text))
    })
  }
}

function endOf(code: number | null, signal: NodeJS.Signals | null, output: string): string {
  if (code !== null) return `it failed with exit code ${code}`
  if (output.length > maxOutput) return `its output exceeds ${maxOutput} characters`
  return signal === 'SIGKILL' ? `it was killed, or did not end within ${limitMs / 1000} s` : `it was ended by ${signal}`
}

function configOf(exec: JsonObject, isTerminal: boolean): ExecConfig {
  const { apiVersion, command, args, env, installHint, provideClusterInfo, interactiveMode } = exec
  if (typeof command !== 'string' || command === '') throw new Error('exec.command is missing')
  if (typeof apiVersion !== 'string' || !apiVersions.includes(apiVersion))
    throw new Error(`exec.apiVersion is ${quote(String(apiVersion))}; expected is ${apiVersions.join(' or ')}`)
  if (!interactiveModes.includes(interactiveMode ?? undefined))
    throw new Error(`exec.interactiveMode is ${quote(String(interactiveMode))}; expected is Never, IfAvailable or Always`)
  if (interactiveMode === 'Always' && !isTerminal) throw new Error('exec.interactiveMode is Always, but there is no terminal')
  // For v1beta1, an absent mode means IfAvailable. For v1, kubectl rejects an absent mode. Proreus treats an absent mode of v1 as Never.
  const mode = interactiveMode ?? (apiVersion.endsWith('/v1beta1') ? 'IfAvailable' : 'Never')
  return {
    apiVersion,
    command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: Object.fromEntries(Array.isArray(env) ? env.filter(isObject).map(({ name, value }) => [String(name), String(value ?? '')]) : []),
    installHint: typeof installHint === 'string' && installHint !== '' ? installHint : undefined,
    provideClusterInfo: provideClusterInfo === true,
    interactive: mode !== 'Never' && isTerminal,
  }
}

function credentialsOf({ token, clientCertificateData: cert, clientKeyData: key }: JsonObject): Credentials {
  const has = (text: unknown): text is string => typeof text === 'string' && text !== ''
  if (has(cert) !== has(key)) throw new Error('its output has a client certificate without its key, or a key without its certificate')
  if (!has(token) && !has(cert)) throw new Error('its output has neither a token nor a client certificate')
  return { ...(has(token) ? { authorization: `Bearer ${token}` } : {}), ...(has(cert) && has(key) ? { cert, key } : {}) }
}
