/** `OidcProvider`: the `oidc` auth-provider of a kubeconfig, which renews an id-token with a refresh-token. */
import { readFile } from 'node:fs/promises'
import { messageOf } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ApiRequest } from './api-request.ts'
import type { Connection } from './connection.ts'
import type { Credentials } from './credentials.ts'
import { proxyFromEnvironment } from './proxy-from-environment.ts'
import { createTransport } from './transport.ts'

/**
 * A token is renewed if the token expires within this number of milliseconds, because the clocks of two machines may differ. client-go also
 * uses 10 s.
 */
const expiryMarginMs = 10_000

/** Maximum size of a response of the identity provider in bytes. A response with a token has a few kilobytes. */
const maxResponseBytes = 1024 * 1024

interface Options {
  /** The `config` of the auth-provider. */
  readonly config: JsonObject
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/**
 * Provides the id-token like client-go's provider (k8s.io/client-go/plugin/pkg/client/auth/oidc), but keeps new tokens in memory. They are
 * not written to the kubeconfig: in a cluster, a program often cannot write its kubeconfig, and elsewhere, kubectl may write the file at
 * the same time.
 *
 * If the identity provider issues a new refresh-token with each renewal, the refresh-token in the kubeconfig may become invalid. For such
 * an identity provider, use an exec plugin, e.g. kubelogin.
 */
export class OidcProvider {
  readonly #config: JsonObject
  readonly #options: Options
  readonly #issuer: string
  readonly #clientId: string
  #idToken: string
  #refreshToken: string

  /** @throws Error when `idp-issuer-url` is missing or is not an https URL, or when `client-id` is missing. */
  constructor(options: Options) {
    this.#options = options
    this.#config = options.config
    this.#issuer = httpsUrl('idp-issuer-url', this.#text('idp-issuer-url')).replace(/\/$/, '')
    this.#clientId = this.#text('client-id')
    if (this.#clientId === '') throw new Error('client-id is missing in the config of its auth-provider')
    this.#idToken = this.#text('id-token')
    this.#refreshToken = this.#text('refresh-token')
  }

  /**
   * Returns the id-token. An expired id-token is renewed first. `refresh` is true when the API server has rejected the id-token. If there
   * is a refresh-token, a rejected id-token is renewed even before it expires.
   */
  async load(refresh: boolean): Promise<Credentials> {
    const isValid = expiryOf(this.#idToken) - expiryMarginMs > this.#options.clock.now()
    if (!isValid || (refresh && this.#refreshToken !== '')) await this.#renew()
    return { authorization: `Bearer ${this.#idToken}` }
  }

  async #renew(): Promise<void> {
    if (this.#refreshToken === '') throw new Error('its id-token has expired, and there is no refresh-token: log in again')
    try {
      const discovery = await this.#send(`${this.#issuer}/.well-known/openid-configuration`, { method: 'GET' })
      const answer = await this.#requestToken(httpsUrl('token_endpoint', discovery.token_endpoint))
      // Some identity providers return an id_token only for the scope `openid`, or never.
      if (typeof answer.id_token !== 'string') throw new Error('its answer has no id_token: request the scope openid when you log in')
      this.#idToken = answer.id_token
      if (typeof answer.refresh_token === 'string' && answer.refresh_token !== '') this.#refreshToken = answer.refresh_token
    } catch (error) {
      throw new Error(`${this.#issuer} did not renew the id-token: ${messageOf(error)}`, { cause: error })
    }
  }

  /**
   * Requests a new id-token with the refresh-token. The client secret, if there is one, is sent in a header. If this request fails, a
   * second request contains the client secret in its body.
   */
  async #requestToken(url: string): Promise<JsonObject> {
    const grant = { grant_type: 'refresh_token', refresh_token: this.#refreshToken }
    const secret = this.#text('client-secret')
    const post = (parameters: Record<string, string>, authorization?: string): Promise<JsonObject> =>
      this.#send(
        url,
        { method: 'POST', body: new URLSearchParams(parameters).toString(), contentType: 'application/x-www-form-urlencoded' },
        authorization,
      )
    if (secret === '') return post({ ...grant, client_id: this.#clientId })
    const credentials = Buffer.from(`${encodeURIComponent(this.#clientId)}:${encodeURIComponent(secret)}`).toString('base64')
    try {
      return await post(grant, `Basic ${credentials}`)
    } catch {
      return post({ ...grant, client_id: this.#clientId, client_secret: secret })
    }
  }

  async #send(url: string, request: Omit<ApiRequest, 'path'>, authorization?: string): Promise<JsonObject> {
    const { origin, pathname, search } = new URL(url)
    const proxyUrl = proxyFromEnvironment(origin, this.#options.env)
    const ca = await this.#ca()
    const connection: Connection = {
      server: origin,
      describe: 'the auth-provider of the kubeconfig',
      ...(ca !== undefined && { ca }),
      ...(proxyUrl !== undefined && { proxyUrl }),
      ...(authorization !== undefined && { authorization: () => Promise.resolve(authorization) }),
    }
    const transport = createTransport(connection, { clock: this.#options.clock, maxResponseBytes })
    try {
      const { body } = await transport.request({ ...request, path: `${pathname}${search}` })
      if (!isObject(body)) throw new Error(`${origin}${pathname} did not answer with a JSON object`)
      return body
    } finally {
      await transport.close()
    }
  }

  async #ca(): Promise<string | undefined> {
    const data = this.#text('idp-certificate-authority-data')
    if (data !== '') return Buffer.from(data, 'base64').toString()
    const file = this.#text('idp-certificate-authority')
    return file === '' ? undefined : readFile(file, 'utf8')
  }

  #text(name: string): string {
    const value = this.#config[name]
    return typeof value === 'string' ? value : ''
  }
}

function httpsUrl(name: string, value: unknown): string {
  // The URL of the issuer and the URL of the token endpoint must use TLS, because the refresh token and the client secret are sent to the
  // token endpoint, and the issuer determines the URL of the token endpoint.
  if (typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:') return value
  throw new Error(`${name} is ${JSON.stringify(value) ?? 'missing'}, which is not an https URL`)
}

/**
 * Returns the time at which a JSON Web Token expires, in milliseconds since the Unix epoch; -Infinity when this time cannot be read from
 * the token.
 */
function expiryOf(token: string): number {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown }
    return typeof exp === 'number' ? exp * 1000 : -Infinity
  } catch {
    return -Infinity
  }
}
