/** The operations in the OpenAPI v3 documents. kubectl reads the supported parameters from these operations. */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { Verb } from '../rest/subresource.ts'
import { metaPrefix } from './openapi-meta.ts'
import { operationName } from './openapi-operation-names.ts'
import { refTo } from './openapi-go-types.ts'
import { componentName, gvkOf, subresourceType } from './openapi-schemas.ts'

/**
 * Media types of a PATCH in the OpenAPI v3 documents. Strategic merge patches are supported for built-in types, but only the v2 document
 * lists their media type (`v2Operation`).
 */
const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
const bodyTypes = ['application/json', 'application/yaml']

interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly verb: Verb
  /** The value of `x-kubernetes-action`. */
  readonly action: string
}

const list: Operation = { method: 'get', verb: 'list', action: 'list' }
const collectionOperations: readonly Operation[] = [
  list,
  { method: 'post', verb: 'create', action: 'post' },
  { method: 'delete', verb: 'deletecollection', action: 'deletecollection' },
]
const itemOperations: readonly Operation[] = [
  { method: 'get', verb: 'get', action: 'get' },
  { method: 'put', verb: 'update', action: 'put' },
  { method: 'patch', verb: 'patch', action: 'patch' },
  { method: 'delete', verb: 'delete', action: 'delete' },
]
const subresourceOperations: readonly Operation[] = [...itemOperations.slice(0, 3), { method: 'post', verb: 'create', action: 'post' }]

/** Returns the paths of one type with their operations. */
export function pathsOf(info: ResourceInfo): JsonObject {
  const root = `${info.group === '' ? '/api' : '/apis'}/${apiVersionOf(info)}`
  const collection = info.namespaced ? `${root}/namespaces/{namespace}/${info.plural}` : `${root}/${info.plural}`
  const scope = info.namespaced ? ['namespace'] : []
  const object = { ...info, component: componentName(info, info.kind) }
  const paths: JsonObject = {}
  const add = (path: string, parameters: string[], target: Target, operations: readonly Operation[], verbs: readonly Verb[]): void => {
    const offered = operations.filter(({ verb }) => verbs.includes(verb))
    if (offered.length === 0) return
    const entries = offered.map((operation): [string, JsonValue] => [operation.method, operationJson(info, target, operation, path)])
    paths[path] = { ...Object.fromEntries(entries), parameters: parameters.map((name) => pathParameter(name, info.kind)) }
  }
  add(collection, scope, object, collectionOperations, info.verbs)
  add(`${collection}/{name}`, [...scope, 'name'], object, itemOperations, info.verbs)
  for (const [name, sub] of Object.entries(info.subresources)) {
    const type = subresourceType(info, sub)
    const component = type.custom || type.goType !== undefined ? componentName(type, type.kind) : undefined
    // In kube-apiserver's document, the operations of a custom resource's scale subresource have the group, version and kind of the custom
    // resource.
    add(`${collection}/{name}/${name}`, [...scope, 'name'], { ...(info.custom ? info : type), component }, subresourceOperations, sub.verbs)
  }
  if (info.namespaced) add(`${root}/${info.plural}`, [], object, [list], info.verbs)
  return paths
}

/** The type that an operation reads and writes. */
interface Target {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The component name of the type; undefined for a type that this document does not describe. */
  readonly component: string | undefined
}

function operationJson(info: ResourceInfo, target: Target, { method, action }: Operation, path: string): JsonObject {
  const object: JsonObject = target.component === undefined ? { type: 'object' } : refTo(target.component)
  const answer =
    action === 'list'
      ? refTo(componentName(info, info.listKind))
      : method !== 'delete' || (action === 'delete' && info.strategy.returnsDeleted === true)
        ? object
        : refTo(`${metaPrefix}.Status`)
  const answers = responseCodes(info, action).map((code): [string, JsonValue] => [
    code,
    { description: codes[code], content: content(bodyTypes, answer) },
  ])
  return {
    ...operationName(info, action, path),
    parameters: queryParameters(method, action),
    // kube-apiserver does not publish the request body (DeleteOptions) of a deletecollection of custom resources.
    ...(action === 'deletecollection' && info.custom ? {} : requestBody(method, object)),
    responses: { ...Object.fromEntries(answers), '401': { description: 'Unauthorized' } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvkOf(target, target.kind),
  }
}

const codes = { '200': 'OK', '201': 'Created', '202': 'Accepted' } as const

/**
 * Returns the HTTP status codes that kube-apiserver's OpenAPI documents list for successful responses to an action
 * (k8s.io/apiserver/pkg/endpoints: registerResourceHandlers; k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder: buildRoute).
 */
function responseCodes({ custom }: ResourceInfo, action: string): (keyof typeof codes)[] {
  switch (action) {
    case 'post':
      return ['200', '201', '202']
    case 'put':
      return ['200', '201']
    case 'patch':
      return custom ? ['200'] : ['200', '201']
    case 'delete':
      return ['200', '202']
    default:
      return ['200']
  }
}

function requestBody(method: Operation['method'], object: JsonObject): JsonObject {
  switch (method) {
    case 'get':
      return {}
    case 'patch':
      return { requestBody: { required: true, content: content(patchTypes, refTo(`${metaPrefix}.Patch`)) } }
    case 'delete':
      return { requestBody: { content: content(bodyTypes, refTo(`${metaPrefix}.DeleteOptions`)) } }
    case 'post':
    case 'put':
      return { requestBody: { required: true, content: content(bodyTypes, object) } }
  }
}

function content(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

function queryParameters(method: Operation['method'], action: string): JsonObject[] {
  const dryRun = query(
    'dryRun',
    'string',
    'When present, indicates that modifications should not be persisted. The only valid value is All.',
  )
  switch (method) {
    case 'get':
      return action === 'list' ? listParameters() : []
    case 'delete':
      return [
        dryRun,
        query('gracePeriodSeconds', 'integer', 'The duration in seconds before the object should be deleted.'),
        query('propagationPolicy', 'string', 'Whether and how garbage collection will be performed: Orphan, Background or Foreground.'),
        ...(action === 'deletecollection' ? listParameters() : []),
      ]
    default:
      return [
        dryRun,
        query('fieldManager', 'string', 'The name of the actor that makes these changes.'),
        query('fieldValidation', 'string', 'What to do with objects that contain unknown or duplicate fields: Ignore, Warn or Strict.'),
        ...(method === 'patch' ? [query('force', 'boolean', 'For apply patches: take ownership of fields that other managers own.')] : []),
      ]
  }
}

function listParameters(): JsonObject[] {
  return [
    query('labelSelector', 'string', 'Restricts the objects by their labels.'),
    query('fieldSelector', 'string', 'Restricts the objects by their fields.'),
    query('limit', 'integer', 'Maximum number of objects in one response.'),
    query('continue', 'string', 'The continue token of the previous response.'),
    query('resourceVersion', 'string', 'Constraint on the resourceVersion of the response.'),
    query('resourceVersionMatch', 'string', 'How resourceVersion is applied: Exact or NotOlderThan.'),
    query('watch', 'boolean', 'Watch for changes and return them as a stream.'),
    query('timeoutSeconds', 'integer', 'Timeout of a watch.'),
    query('allowWatchBookmarks', 'boolean', 'Whether a watch may contain events of the type BOOKMARK.'),
    query('sendInitialEvents', 'boolean', 'Whether a watch begins with the existing objects.'),
  ]
}

function query(name: string, type: string, description: string): JsonObject {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } }
}

function pathParameter(name: string, kind: string): JsonObject {
  const description = name === 'name' ? `name of the ${kind}` : 'object name and auth scope, such as for teams and projects'
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } }
}
