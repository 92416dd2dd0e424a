/** The types that are questions: may somebody do something, whose token is this, who am I. They are answered and not stored. */
import type { FieldError } from '../../api/field-error.ts'
import { invalid } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import type { RequestContext, UserInfo } from '../registry/request-context.ts'
import { invalidObject } from '../registry/status-error.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import type { TokenAuthenticator } from './authenticate.ts'
import type { AuthorizationAttributes, Authorizer } from './authorizer.ts'

const authorization = { group: 'authorization.k8s.io', version: 'v1' }
const authentication = { group: 'authentication.k8s.io', version: 'v1' }

type Review = (object: JsonObject, request: RequestContext) => JsonObject

/**
 * The rows of the catalog for access reviews and, for callers that have one, token reviews.
 *
 * @example
 * for (const row of reviewRows(authorizer)) catalog.add(row)
 */
export function reviewRows(authorizer: Authorizer, tokens?: TokenAuthenticator): readonly ResourceInfo[] {
  const answer = (attributes: AuthorizationAttributes): JsonObject => {
    const { allowed, reason } = authorizer.authorize(attributes)
    return reason === '' ? { allowed } : { allowed, reason }
  }
  const subject =
    (kind: string) =>
    (object: JsonObject): JsonObject => {
      const spec = specOf(object)
      const errors = accessErrors(spec)
      if (text(spec, 'user') === '' && texts(spec, 'groups').length === 0) {
        errors.push(invalid('spec.user', '', 'at least one of user or group must be specified'))
      }
      const namespace = text(metadataOf(object), 'namespace')
      if (kind === 'LocalSubjectAccessReview' && namespace !== text(child(spec, 'resourceAttributes'), 'namespace')) {
        errors.push(
          invalid(
            'spec.resourceAttributes.namespace',
            text(child(spec, 'resourceAttributes'), 'namespace'),
            'must match metadata.namespace',
          ),
        )
      }
      refuse(kind, errors)
      return { ...object, status: answer(attributesOf(spec, userOf(spec))) }
    }
  const rows = [
    row(authorization, 'SubjectAccessReview', false, subject('SubjectAccessReview')),
    row(authorization, 'LocalSubjectAccessReview', true, subject('LocalSubjectAccessReview')),
    row(authorization, 'SelfSubjectAccessReview', false, (object, { user }) => {
      const spec = specOf(object)
      refuse('SelfSubjectAccessReview', accessErrors(spec))
      return { ...object, status: answer(attributesOf(spec, user)) }
    }),
    row(authorization, 'SelfSubjectRulesReview', false, (object, { user }) => ({
      ...object,
      status: rulesStatus(authorizer, user, text(specOf(object), 'namespace')),
    })),
    row(authentication, 'SelfSubjectReview', false, (object, { user }) => ({ ...object, status: { userInfo: userJson(user) } })),
  ]
  if (tokens === undefined) return rows
  const tokenReview = row(authentication, 'TokenReview', false, (object) => {
    const user = tokens(text(specOf(object), 'token'))
    return {
      ...object,
      status: user === undefined ? { user: {}, error: 'invalid bearer token' } : { authenticated: true, user: userJson(user) },
    }
  })
  return [...rows, tokenReview]
}

function row(type: { group: string; version: string }, kind: string, namespaced: boolean, review: Review): ResourceInfo {
  const singular = kind.toLowerCase()
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
    strategy: {},
    columns: [],
    selectableFields: () => ({}),
    review: (object, request) => Promise.resolve().then(() => review(object, request)),
  }
}

function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: authorization.group, kind }, '', errors)
}

function accessErrors(spec: JsonObject): FieldError[] {
  const [resource, other] = [getOwn(spec, 'resourceAttributes'), getOwn(spec, 'nonResourceAttributes')].map((value) => value ?? null)
  if (resource !== null && other !== null) {
    return [invalid('spec.nonResourceAttributes', other, 'cannot be specified in combination with resourceAttributes')]
  }
  if (resource === null && other === null) {
    return [invalid('spec.resourceAttributes', null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
  }
  return []
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
  const rules = authorizer.rulesOf?.(user, namespace)
  return {
    resourceRules: (rules ?? []).map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs: [...verbs],
      apiGroups: [...apiGroups],
      resources: [...resources],
      ...(resourceNames === undefined ? {} : { resourceNames: [...resourceNames] }),
    })),
    nonResourceRules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          '/api',
          '/api/*',
          '/apis',
          '/apis/*',
          '/healthz',
          '/livez',
          '/openapi',
          '/openapi/*',
          '/readyz',
          '/version',
          '/version/',
        ],
      },
    ],
    incomplete: rules === undefined,
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

function metadataOf(object: JsonObject): JsonObject {
  return child(object, 'metadata')
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
