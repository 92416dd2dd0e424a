/**
 * SubjectAccessReview, TokenReview and similar types. Their objects are not stored. The response to a create request contains the result in
 * its status.
 */
import type { Clock } from '../../runtime/clock.ts'
import { formatTime } from '../../api/conditions.ts'
import type { FieldError } from '../../api/field-error.ts'
import { invalid } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import type { RequestContext, UserInfo } from '../apimachinery/request-context.ts'
import { badRequest, invalidObject } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { kindType } from '../types/go-types.ts'
import type { TokenAuthenticator } from './authenticate.ts'
import type { AuthorizationAttributes, Authorizer } from './authorizer.ts'

const authorization = { group: 'authorization.k8s.io', version: 'v1' }
const authentication = { group: 'authentication.k8s.io', version: 'v1' }

/**
 * The `status.error` of a TokenReview for an invalid token. If the authenticator returns a refusal, `status.error` is
 * `[invalid bearer token, REFUSAL]`.
 */
const unknownToken = 'invalid bearer token'

type Review = (object: JsonObject, request: RequestContext) => JsonObject

/**
 * Returns the rows of the resource catalog for the access reviews and, if `tokens` is defined, for TokenReview.
 *
 * @example
 * for (const row of reviewRows(authorizer, { clock })) catalog.add(row)
 */
export function reviewRows(
  authorizer: Authorizer,
  { clock, tokens }: { clock: Clock; tokens?: TokenAuthenticator },
): readonly ResourceInfo[] {
  const answer = (attributes: AuthorizationAttributes): JsonObject => {
    const { allowed, reason } = authorizer.authorize(attributes)
    return reason === '' ? { allowed } : { allowed, reason }
  }
  const subject =
    (localTo?: (object: JsonObject) => FieldError[]): Review =>
    (object) => {
      const spec = specOf(object)
      const errors = accessErrors(spec)
      if (text(spec, 'user') === '' && texts(spec, 'groups').length === 0) {
        errors.push(invalid('spec.user', '', 'at least one of user or group must be specified'))
      }
      refuse([...errors, ...(localTo?.(object) ?? [])])
      return { ...object, status: answer(attributesOf(spec, userOf(spec))) }
    }
  const rows = [
    row(authorization, 'SubjectAccessReview', false, subject()),
    row(authorization, 'LocalSubjectAccessReview', true, subject(localErrors)),
    row(authorization, 'SelfSubjectAccessReview', false, (object, { user }) => {
      const spec = specOf(object)
      refuse(accessErrors(spec))
      return { ...object, status: answer(attributesOf(spec, user)) }
    }),
    row(authorization, 'SelfSubjectRulesReview', false, (object, { user }) => {
      const namespace = text(specOf(object), 'namespace')
      if (namespace === '') throw badRequest('no namespace on request')
      // kube-apiserver responds with an empty spec to a SelfSubjectRulesReview.
      return { ...object, metadata: {}, spec: {}, status: rulesStatus(authorizer, user, namespace) }
    }),
    row(authentication, 'SelfSubjectReview', false, (object, { user }) => ({
      ...object,
      metadata: { creationTimestamp: formatTime(clock.now()) },
      status: { userInfo: userJson(user) },
    })),
  ]
  if (tokens === undefined) return rows
  const tokenReview = row(authentication, 'TokenReview', false, (object) => {
    const token = text(specOf(object), 'token')
    if (token === '') throw badRequest('token is required for TokenReview in authentication')
    const requested = texts(specOf(object), 'audiences')
    const found = tokens(token, requested.length === 0 ? undefined : requested)
    const status =
      found === undefined || 'refusal' in found
        ? { user: {}, error: found === undefined ? unknownToken : `[${unknownToken}, ${found.refusal}]` }
        : { authenticated: true, user: userJson(found.user), audiences: [...found.audiences] }
    return { ...object, status }
  })
  return [...rows, tokenReview]
}

function row(type: { group: string; version: string }, kind: string, namespaced: boolean, review: Review): ResourceInfo {
  const singular = kind.toLowerCase()
  const goType = kindType({ ...type, kind })
  return {
    ...type,
    kind,
    listKind: `${kind}List`,
    plural: `${singular}s`,
    singular,
    shortNames: [],
    categories: [],
    namespaced,
    verbs: ['create'],
    storageKey: `${type.group}/${singular}s`,
    storageVersion: type.version,
    subresources: {},
    custom: false,
    ...(goType === undefined ? {} : { goType }),
    strategy: {},
    columns: [],
    selectableFields: () => ({}),
    review: (object, request) => Promise.resolve().then(() => review(object, request)),
  }
}

/** Throws a 422 error if there are field errors. As in kube-apiserver's response, the details of the error contain no kind. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: authorization.group, kind: '' }, '', errors)
}

function accessErrors(spec: JsonObject): FieldError[] {
  const { resource, path } = requestedAttributes(spec)
  if (resource !== undefined && path !== undefined)
    return [invalid('spec.nonResourceAttributes', pathAttributes(path), 'cannot be specified in combination with resourceAttributes')]
  if (resource === undefined && path === undefined)
    return [invalid('spec.resourceAttributes', null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
  return []
}

/** Returns the field errors that only a LocalSubjectAccessReview can have. */
function localErrors(object: JsonObject): FieldError[] {
  const { resource, path } = requestedAttributes(specOf(object))
  const about = text(resource ?? {}, 'namespace')
  return [
    ...(resource !== undefined && about !== text(child(object, 'metadata'), 'namespace')
      ? [invalid('spec.resourceAttributes.namespace', about, 'must match metadata.namespace')]
      : []),
    ...(path === undefined ? [] : [invalid('spec.nonResourceAttributes', pathAttributes(path), 'disallowed on this kind of request')]),
  ]
}

function requestedAttributes(spec: JsonObject): { resource: JsonObject | undefined; path: JsonObject | undefined } {
  const objectAt = (key: string): JsonObject | undefined => (isObject(getOwn(spec, key)) ? child(spec, key) : undefined)
  return { resource: objectAt('resourceAttributes'), path: objectAt('nonResourceAttributes') }
}

/**
 * Returns non-resource attributes as the invalid value of a field error. The keys are the field names of Go's struct, as in the error
 * message of kube-apiserver.
 */
function pathAttributes(path: JsonObject): JsonObject {
  return { Path: text(path, 'path'), Verb: text(path, 'verb') }
}

function attributesOf(spec: JsonObject, user: UserInfo): AuthorizationAttributes {
  const resource = child(spec, 'resourceAttributes')
  const path = child(spec, 'nonResourceAttributes')
  return {
    user,
    verb: text(resource, 'verb') || text(path, 'verb'),
    group: text(resource, 'group'),
    version: text(resource, 'version'),
    resource: text(resource, 'resource'),
    subresource: text(resource, 'subresource'),
    namespace: text(resource, 'namespace'),
    name: text(resource, 'name'),
    ...(isObject(getOwn(spec, 'nonResourceAttributes')) ? { path: text(path, 'path') } : {}),
  }
}

function rulesStatus(authorizer: Authorizer, user: UserInfo, namespace: string): JsonObject {
  const { rules = [], error = '' } = authorizer.rulesOf?.(user, namespace) ?? {}
  const ofResources = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length === 0)
  return {
    resourceRules: ofResources.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs: [...verbs],
      apiGroups: [...apiGroups],
      resources: [...resources],
      ...(resourceNames === undefined ? {} : { resourceNames: [...resourceNames] }),
    })),
    nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs = [] }) =>
      nonResourceURLs.length === 0 ? [] : [{ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] }],
    ),
    incomplete: authorizer.rulesOf === undefined,
    ...(error === '' ? {} : { evaluationError: error }),
  }
}

function userOf(spec: JsonObject): UserInfo {
  const uid = text(spec, 'uid')
  const extra = Object.fromEntries(Object.keys(child(spec, 'extra')).map((key) => [key, texts(child(spec, 'extra'), key)]))
  return { username: text(spec, 'user'), groups: texts(spec, 'groups'), ...(uid === '' ? {} : { uid }), extra }
}

function userJson(user: UserInfo): JsonObject {
  const extra = Object.entries(user.extra ?? {}).map(([key, values]): [string, JsonValue] => [key, [...values]])
  return {
    username: user.username,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: [...user.groups],
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  }
}

function specOf(object: JsonObject): JsonObject {
  return child(object, 'spec')
}

function child(object: JsonObject, key: string): JsonObject {
  const value = getOwn(object, key)
  return isObject(value) ? value : {}
}

function text(object: JsonObject, key: string): string {
  const value = getOwn(object, key)
  return typeof value === 'string' ? value : ''
}

function texts(object: JsonObject, key: string): string[] {
  const value = getOwn(object, key)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
