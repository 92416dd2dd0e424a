/** Derives the verb and the resource of a request from its method, path and query. */
import { exactValue, parseFieldSelector } from '../storage/field-selector.ts'

/** The request as the authorizer and the handlers see it (k8s.io/apiserver/pkg/endpoints/request: RequestInfo). */
export interface RequestInfo {
  readonly path: string
  /** False for non-resource requests: `/version`, `/apis`, `/openapi/v3`, … */
  readonly isResource: boolean
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the method in lower case for non-resource requests.
   */
  readonly verb: string
  readonly group: string
  readonly version: string
  /** Plural of the type in lower case, e.g. `pods`. */
  readonly resource: string
  readonly subresource: string
  /**
   * The namespace in the path, e.g. `NAME` in `/api/v1/namespaces/NAME/pods`. This field is empty if the path contains no namespace, and
   * for non-resource requests.
   *
   * The path `/api/v1/namespaces/NAME` addresses a Namespace object. For this path, the field is also `NAME`, because kube-apiserver
   * authorizes the request in the namespace `NAME`.
   */
  readonly namespace: string
  /**
   * Name of the object. For a list or watch with the field selector `metadata.name=NAME`, this is the name in the selector. Empty in all
   * other cases.
   */
  readonly name: string
  /** The path segments after the subresource. If a request other than a proxy request has such segments, the server responds with 404. */
  readonly rest: readonly string[]
}

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** Subresources of Namespaces. In a path `/api/v1/namespaces/NAME/X`, any other X is a resource in the namespace. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize'])

/**
 * Parses method, path and query (k8s.io/apiserver/pkg/endpoints/request: NewRequestInfo). Path segments are percent-decoded.
 *
 * @throws {URIError} when the percent-encoding is malformed.
 */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent)
  const location = locate(parts)
  if (location === undefined) {
    return {
      path,
      isResource: false,
      verb: method.toLowerCase(),
      group: '',
      version: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
      rest: [],
    }
  }
  if (location.isWatch && method === 'GET') return { path, isResource: true, ...location, verb: 'watch' }
  const verb = verbs[method] ?? method.toLowerCase()
  const isCollection = location.name === ''
  if (!isCollection) return { path, isResource: true, verb, ...location }
  const collectionVerb = verb === 'get' ? (flag(query, 'watch') ? 'watch' : 'list') : verb === 'delete' ? 'deletecollection' : verb
  return { path, isResource: true, ...location, verb: collectionVerb, name: nameInSelector(collectionVerb, query) }
}

interface Location extends Pick<RequestInfo, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name' | 'rest'> {
  /** True for a path such as `/api/v1/watch/pods`, the deprecated form of a watch. A name in such a path selects one object. */
  readonly isWatch: boolean
}

function locate(parts: readonly string[]): Location | undefined {
  const core = parts[0] === 'api'
  if (!core && parts[0] !== 'apis') return undefined
  const [version = '', group = ''] = core ? [parts[1]] : [parts[2], parts[1]]
  let rest = parts.slice(core ? 2 : 3)
  if (rest.length === 0) return undefined
  const isWatch = rest[0] === 'watch' && rest.length > 1
  if (isWatch) rest = rest.slice(1)
  let namespace = ''
  if (rest[0] === 'namespaces' && rest.length > 1) {
    namespace = rest[1] ?? ''
    if (rest.length > 2 && !(namespaceSubresources.has(rest[2] ?? '') && rest.length === 3)) rest = rest.slice(2)
  }
  const [resource = '', name = '', subresource = '', ...more] = rest
  return { group, version, resource, subresource, namespace, name, rest: more, isWatch }
}

/**
 * Returns NAME for a list or watch with the field selector `metadata.name=NAME`. kube-apiserver authorizes such a request with NAME as the
 * name of the requested object.
 *
 * Returns an empty string for any other request, or if NAME cannot be a path segment (k8s.io/apimachinery/pkg/api/validation/path:
 * IsValidPathSegmentName).
 */
function nameInSelector(verb: string, query: URLSearchParams): string {
  if (verb !== 'list' && verb !== 'watch') return ''
  const name = nameOf(query.get('fieldSelector') ?? '')
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name
}

/**
 * Returns the name that a field selector selects. Returns an empty name for an invalid selector, because the handler of the request reports
 * the invalid selector later.
 */
function nameOf(fieldSelector: string): string {
  try {
    return exactValue(parseFieldSelector(fieldSelector), 'metadata.name') ?? ''
  } catch (error) {
    if (error instanceof SyntaxError) return ''
    throw error
  }
}

/**
 * True for a boolean query parameter that is present and neither `false` nor `0` (k8s.io/apimachinery/pkg/runtime:
 * Convert_Slice_string_To_bool).
 */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value.toLowerCase() !== 'false' && value !== '0'
}
