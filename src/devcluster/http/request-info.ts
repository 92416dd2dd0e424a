/** What a request's method and path ask for: a verb on a resource, or on a path that is none. */

/** A request as the authorizer and the handlers see it; the names of `k8s.io/apiserver/pkg/endpoints/request.RequestInfo`. */
export interface RequestInfo {
  readonly path: string
  /** False for `/version`, `/apis`, `/openapi/v3`, … */
  readonly isResource: boolean
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for other paths the method in lower case. */
  readonly verb: string
  readonly group: string
  readonly version: string
  /** Lower-case plural. */
  readonly resource: string
  readonly subresource: string
  /** Empty: cluster-wide. For a Namespace itself its name, as the API server's rules for permissions want it. */
  readonly namespace: string
  /** Empty: the collection. */
  readonly name: string
  /** What stands after the subresource; a path of the API has nothing there. */
  readonly rest: readonly string[]
}

const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** Paths `/api/v1/namespaces/NAME/X` where X belongs to the namespace and is no resource in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize'])

/**
 * Reads method, path and query. The parts of the path are percent-decoded.
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
  /** Below `/api/v1/watch/`, the old form of a watch, where a name selects one object. */
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

/** A list of one name is a request for that name: permissions may be given for it alone. */
function nameInSelector(verb: string, query: URLSearchParams): string {
  if (verb === 'create') return ''
  const match = /(?:^|,)metadata\.name==?([^,=!]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')
  return match?.[1] ?? ''
}

/** A boolean query parameter as Kubernetes reads it: there, and neither `false` nor `0`. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value.toLowerCase() !== 'false' && value !== '0'
}
