/** The names and descriptions of the operations in the OpenAPI documents. Client generators make method names from the operation names. */
import type { JsonObject } from '../../api/json.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'

/** The verbs in the names of operations, keyed by `x-kubernetes-action`. */
const verbs: Readonly<Record<string, string>> = {
  list: 'list',
  post: 'create',
  deletecollection: 'delete',
  get: 'read',
  put: 'replace',
  patch: 'patch',
  delete: 'delete',
}

/**
 * Returns `operationId`, `tags` and `description` of an operation (k8s.io/apiserver/pkg/endpoints/openapi: GetOperationIDAndTags;
 * k8s.io/apiserver/pkg/endpoints: registerResourceHandlers).
 */
export function operationName(
  { group, version, kind, namespaced, plural, custom }: ResourceInfo,
  action: string,
  path: string,
): JsonObject {
  const holder = camelCase(group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))
  const subresource = /\{name\}\/(.+)$/.exec(path)?.[1] ?? ''
  const scope = namespaced && path.includes('/{namespace}/') ? 'Namespaced' : ''
  const everywhere = namespaced && path.endsWith(`/${version}/${plural}`) ? 'ForAllNamespaces' : ''
  const collection = action === 'deletecollection' ? 'Collection' : ''
  return {
    operationId: `${verbs[action]!}${capitalized(holder)}${capitalized(version)}${collection}${scope}${kind}${capitalized(subresource)}${everywhere}`,
    tags: [`${holder}_${version}`],
    description: action === 'list' && custom ? `list objects of kind ${kind}` : describe(action, subresource, kind),
  }
}

function describe(action: string, subresource: string, kind: string): string {
  const of = subresource === '' ? '' : ` ${subresource} of`
  switch (action) {
    case 'list':
      return `list or watch objects of kind ${kind}`
    case 'post':
    case 'delete':
      return `${verbs[action]!}${of}${articleOf(kind)} ${kind}`
    case 'deletecollection':
      return `delete collection of ${kind}`
    case 'patch':
      return `partially update${of} the specified ${kind}`
    default:
      return `${verbs[action]!}${of} the specified ${kind}`
  }
}

/** Returns the article before a kind (k8s.io/apiserver/pkg/endpoints: GetArticleForNoun). */
function articleOf(kind: string): string {
  if (/(?<!s)s$/.test(kind)) return ''
  return /^[AEIOU]/.test(kind) ? ' an' : ' a'
}

/** Removes characters that an operationId cannot have, and capitalizes the character after each of them. */
function camelCase(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
