/**
 * Issues tokens for ServiceAccounts through the subresource `serviceaccounts/token`, and authenticates these tokens. The tokens are signed
 * with the `serviceAccountKey` of the `ClusterState`.
 */
import type { KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { formatTime } from '../../api/conditions.ts'
import type { FieldError } from '../../api/field-error.ts'
import { invalid, quote } from '../../api/field-error.ts'
import { parseApiVersion } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { newUuid } from '../../runtime/random.ts'
import type { UserInfo } from '../apimachinery/request-context.ts'
import { badRequest, conflict, invalidObject, notFound } from '../apimachinery/status-error.ts'
import { at, listAt, numberAt, textAt } from '../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { SubresourceInfo } from '../rest/subresource.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { TokenAuthenticator } from './authenticate.ts'
import { boundNodeKey, commonAudiences, serverAudience, serviceAccountGroups, serviceAccountName } from './authenticate.ts'

const issuer = serverAudience

/** The prefix of the keys in the `extra` field of a ServiceAccount's user. */
const extraPrefix = 'authentication.kubernetes.io'

const tokenRequest = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }
const defaultSeconds = 3600
const minSeconds = 600
const maxSeconds = 2 ** 32

interface Claims {
  readonly aud: readonly string[]
  readonly exp: number
  readonly nbf: number
  readonly jti: string
  readonly 'kubernetes.io': {
    readonly namespace: string
    readonly serviceaccount: Referent
    readonly pod?: Referent
    readonly secret?: Referent
    /**
     * The Node to which the token is bound, or the Node of the Pod to which the token is bound. If the Node does not exist, `uid` is
     * absent.
     */
    readonly node?: { readonly name: string; readonly uid?: string }
  }
}

interface Referent {
  readonly name: string
  readonly uid: string
}

/** Kinds of objects to which a token can be bound. When the object is deleted, the token becomes invalid. */
const bindable: Readonly<
  Record<string, { readonly claim: 'pod' | 'secret' | 'node'; readonly plural: string; readonly namespaced: boolean }>
> = {
  Pod: { claim: 'pod', plural: 'pods', namespaced: true },
  Secret: { claim: 'secret', plural: 'secrets', namespaced: true },
  Node: { claim: 'node', plural: 'nodes', namespaced: false },
}

export interface ServiceAccountTokens {
  /** Adds the subresource `token` to the row of ServiceAccounts in the resource catalog. */
  withTokens(row: ResourceInfo): ResourceInfo
  /**
   * Authenticates tokens that this API server issued. A token becomes invalid when its ServiceAccount, or the object to which the token is
   * bound, is deleted.
   */
  readonly authenticator: TokenAuthenticator
}

export interface ServiceAccountTokensOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  /** Returns a number in [0, 1), for the ids of tokens. The numbers may be predictable, because an id is not secret. */
  readonly random: () => number
  /** The key that signs the tokens: a P-256 key as PEM. */
  readonly key: string
}

export function serviceAccountTokens({ store, clock, random, key }: ServiceAccountTokensOptions): ServiceAccountTokens {
  const privateKey = createPrivateKey(key)
  const publicKey = createPublicKey(privateKey)

  // The steps and their order are those of k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage: TokenREST.Create.
  const prepare = (account: JsonObject, request: JsonObject): JsonObject => {
    const { name, namespace, uid } = account.metadata as { name: string; namespace: string; uid: string }
    checkName(request, name)
    const errors = requestErrors(request)
    if (errors.length > 0) throw invalidObject(tokenRequest, '', errors)
    const { metadata, spec } = request as { metadata: JsonObject; spec: JsonObject }
    const audiences = listAt(spec, 'audiences')
    return {
      ...request,
      metadata: { ...metadata, name, namespace, uid, creationTimestamp: formatTime(clock.now()) },
      spec: { ...spec, audiences: audiences.length === 0 ? [issuer] : [...audiences] },
      status: noStatus,
    }
  }

  const respond = (account: JsonObject, request: JsonObject): JsonObject => {
    const { name, namespace, uid } = account.metadata as { name: string; namespace: string; uid: string }
    const boundTo = bindingOf(store, request, namespace, name)
    const seconds = numberAt(request, 'spec', 'expirationSeconds')
    const now = Math.floor(clock.now() / 1000)
    const claims = {
      aud: listAt(request, 'spec', 'audiences') as readonly string[],
      exp: now + seconds,
      iat: now,
      iss: issuer,
      jti: newUuid(random),
      'kubernetes.io': { namespace, ...boundTo, serviceaccount: { name, uid } },
      nbf: now,
      sub: serviceAccountName(namespace, name),
    }
    return { ...request, status: { token: signed(claims, privateKey), expirationTimestamp: formatTime((now + seconds) * 1000) } }
  }
  const subresource: SubresourceInfo = { ...tokenRequest, verbs: ['create'], unstored: { applyDefaults, prepare, respond } }

  return {
    withTokens: (row) => ({ ...row, subresources: { ...row.subresources, token: subresource } }),
    authenticator(token, requested = [serverAudience]) {
      const claims = verified(token, publicKey)
      const now = clock.now() / 1000
      if (claims === undefined) return undefined
      const audiences = commonAudiences(requested, claims.aud)
      if (audiences === undefined)
        return { refusal: `token audiences ${listOf(claims.aud)} is invalid for the target audiences ${listOf(requested)}` }
      if (now >= claims.exp || now < claims.nbf) return undefined
      const { namespace, serviceaccount, pod, secret, node } = claims['kubernetes.io']
      const { name, uid } = serviceaccount
      const isThere = (plural: string, referent: Claims['kubernetes.io']['node'], place: { namespace?: string } = { namespace }): boolean =>
        referent === undefined || textAt(store.get(`/${plural}`, { ...place, name: referent.name }), 'metadata', 'uid') === referent.uid
      if (
        !isThere('serviceaccounts', serviceaccount) ||
        !isThere('pods', pod) ||
        !isThere('secrets', secret) ||
        (pod === undefined && !isThere('nodes', node, {}))
      )
        return undefined
      const user: UserInfo = {
        username: serviceAccountName(namespace, name),
        uid,
        groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
        extra: {
          [`${extraPrefix}/credential-id`]: [`JTI=${claims.jti}`],
          ...(pod === undefined ? {} : { [`${extraPrefix}/pod-name`]: [pod.name], [`${extraPrefix}/pod-uid`]: [pod.uid] }),
          ...(node === undefined ? {} : { [boundNodeKey]: [node.name] }),
          ...(node?.uid === undefined ? {} : { [`${extraPrefix}/node-uid`]: [node.uid] }),
        },
      }
      return { user, audiences }
    },
  }
}

/** Formats a slice of strings as Go's `%q` does. */
function listOf(texts: readonly string[]): string {
  return `[${texts.map(quote).join(' ')}]`
}

/** The status of a TokenRequest before its token is issued. */
const noStatus: JsonObject = { token: '', expirationTimestamp: null }

/**
 * Applies defaults. Missing optional fields without a default become `null`, as in Go's JSON for a TokenRequest
 * (k8s.io/api/authentication/v1: TokenRequest).
 */
function applyDefaults({ kind, apiVersion, metadata, spec }: JsonObject): JsonObject {
  const { audiences = null, expirationSeconds, boundObjectRef = null } = isObject(spec) ? spec : {}
  return {
    kind,
    apiVersion,
    metadata: isObject(metadata) ? metadata : {},
    spec: { audiences, expirationSeconds: expirationSeconds ?? defaultSeconds, boundObjectRef },
    status: noStatus,
  } as JsonObject
}

function checkName(request: JsonObject, account: string): void {
  const given = textAt(request, 'metadata', 'name')
  if (given !== '' && given !== account)
    throw invalidObject(tokenRequest, account, [invalid('metadata.name', given, 'must match the service account name if specified')])
}

/**
 * Returns the JWT claim that names the object to which the token is bound, and for a Pod also the claim that names the Pod's Node. If the
 * token is not bound to an object, returns an empty object (k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage: TokenREST.Create).
 *
 * @throws {StatusError} 400 for a kind to which tokens cannot be bound, and for a Pod of another ServiceAccount; 404 for a missing object;
 *   409 when the UID in `boundObjectRef` is not the UID of the object.
 */
function bindingOf(store: ObjectStore, request: JsonObject, namespace: string, account: string): Partial<Claims['kubernetes.io']> {
  const reference = at(request, 'spec', 'boundObjectRef')
  if (!isObject(reference)) return {}
  const [kind, name, wanted] = ['kind', 'name', 'uid'].map((field) => textAt(reference, field)) as [string, string, string]
  const type = textAt(reference, 'apiVersion') === 'v1' && Object.hasOwn(bindable, kind) ? bindable[kind] : undefined
  if (type === undefined) throw badRequest(`cannot bind token to object of type ${goKind(textAt(reference, 'apiVersion'), kind)}`)
  const { claim, plural, namespaced } = type
  const object = store.get(`/${plural}`, namespaced ? { namespace, name } : { name })
  if (object === undefined) throw notFound({ group: '', kind, plural }, name)
  if (kind === 'Pod' && textAt(object, 'spec', 'serviceAccountName') !== account)
    throw badRequest(`cannot bind token for serviceaccount ${quote(account)} to pod running with different serviceaccount name.`)
  const uid = textAt(object, 'metadata', 'uid')
  if (wanted !== '' && wanted !== uid) {
    const text = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', kind, plural: kind }, name, text)
  }
  return { [claim]: { name, uid }, ...(kind === 'Pod' ? nodeOfPod(store, object) : {}) }
}

function nodeOfPod(store: ObjectStore, pod: JsonObject): Pick<Claims['kubernetes.io'], 'node'> {
  const name = textAt(pod, 'spec', 'nodeName')
  if (name === '') return {}
  const node = store.get('/nodes', { name })
  return { node: { name, ...(node === undefined ? {} : { uid: textAt(node, 'metadata', 'uid') }) } }
}

/** Formats a GroupVersionKind as Go prints it. */
function goKind(apiVersion: string, kind: string): string {
  const { group, version } = parseApiVersion(apiVersion)
  return `${group}/${version}, Kind=${kind}`
}

function requestErrors(request: JsonObject): FieldError[] {
  const seconds = at(request, 'spec', 'expirationSeconds')
  if (typeof seconds !== 'number') return []
  const field = 'spec.expirationSeconds'
  if (seconds < minSeconds) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')]
  return seconds > maxSeconds ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
}

const algorithm = { hash: 'sha256', dsaEncoding: 'ieee-p1363' } as const

function signed(claims: object, key: KeyObject): string {
  const content = [{ alg: 'ES256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${content}.${sign(algorithm.hash, Buffer.from(content), { key, dsaEncoding: algorithm.dsaEncoding }).toString('base64url')}`
}

function verified(token: string, key: KeyObject): Claims | undefined {
  const [header, payload, signature, ...rest] = token.split('.')
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined
  const isOurs = verify(
    algorithm.hash,
    Buffer.from(`${header}.${payload}`),
    { key, dsaEncoding: algorithm.dsaEncoding },
    Buffer.from(signature, 'base64url'),
  )
  if (!isOurs) return undefined
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return isObject(claims as JsonObject) ? (claims as Claims) : undefined
}
