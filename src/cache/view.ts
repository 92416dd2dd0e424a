/** `cacheView(type, options)`: defines which objects of a type the cache stores, and which of their fields. */
import type { InputOf, ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf, isSameType } from '../api/group-version-kind.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import { formatLabelSelector, isLabelSelector, requirementsOf, selectorProblems } from '../api/label-selector.ts'
import { dns1123Label } from '../api/name-syntax.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isBoolean, isFunction, isListOf, isText, refuseOptions } from '../api/option-checks.ts'
import { messageOf } from '../api/errors.ts'
import { isMetadataOnly, metadataOnly as metadataTypeOf } from '../client/metadata-only.ts'
import { formatFieldSelector, parseFieldSelector } from './field-selector.ts'

/** The options that select the objects of a view, and the option to keep `managedFields`. */
export interface CacheViewSelection {
  /** Selects the objects whose labels match this label selector. Default: all objects. */
  readonly labels?: LabelSelector
  /**
   * Selects the objects whose fields match this field selector. The syntax is that of `kubectl get --field-selector`, e.g.
   * `spec.nodeName=node-1,status.phase!=Failed`. All types support the fields `metadata.name` and `metadata.namespace`. If the type does
   * not support a field of the selector, the API server rejects the list and watch requests. Default: all objects.
   */
  readonly fields?: string
  /**
   * The namespaces of the objects in the view. These namespaces apply even if the process is limited to other namespaces. Default: the
   * namespaces of the process.
   */
  readonly namespaces?: readonly string[]
  /** True to keep `metadata.managedFields`. This field often takes up half of the size of an object. Default false. */
  readonly managedFields?: boolean
}

export interface CacheViewOptions<From extends KubernetesObject, To extends KubernetesObject> extends CacheViewSelection {
  /**
   * Returns the object that the cache stores in place of `object`. Usually, the result has fewer fields. The function may change `object`.
   * The result must depend only on `object`, and must have the same name, namespace, uid and resourceVersion. If the function throws, the
   * error is logged, and the object is not in the view.
   */
  readonly transform?: (object: From) => To
  /**
   * True to store only `apiVersion`, `kind` and `metadata` of each object. The cache then requests only these fields from the API server.
   * Default false.
   */
  readonly metadataOnly?: boolean
}

/** An object with `apiVersion`, `kind` and `metadata` only. */
export type ObjectMetadata = KubernetesObject

/**
 * A view of a type. The cache stores the objects of each view separately. A view can be used wherever the cache takes a type.
 *
 * A client ignores the options of a view. Its requests also return objects outside of the view, with all fields.
 */
export interface CacheView<T extends KubernetesObject = KubernetesObject, Input = unknown> extends ResourceType<T, Input> {
  /** @internal */
  readonly view: View
}

/** The options of a view. */
export interface View extends CacheViewSelection {
  /**
   * Describes all options except `transform`. Equivalent options have the same description. The description is empty if all options except
   * `transform` have their defaults.
   */
  readonly description: string
  readonly metadataOnly: boolean
  readonly transform: ((object: KubernetesObject) => KubernetesObject) | undefined
}

const viewOptions = {
  labels: isLabelSelector,
  fields: isText,
  namespaces: isListOf(isText),
  managedFields: isBoolean,
  metadataOnly: isBoolean,
  transform: isFunction,
} satisfies Record<keyof CacheViewOptions<KubernetesObject, KubernetesObject>, OptionCheck>
const checkView = hasOptions(viewOptions)

/**
 * Defines a view of a type: some of its objects, some of their fields, or both. Use the view in place of the type: as the primary type of a
 * controller, in `owns`, `watches` and `indexes` of a controller, in `reads` of a webhook, and in `cache.get` and `cache.list`.
 *
 * The API server sends only the selected objects, because the selection is part of the list and watch requests. All controllers and
 * webhooks that use the same view share its watches. Two views are the same when they have the same type, equivalent options and the same
 * function `transform`.
 *
 * @example
 * const podsOfWeb = cacheView(core.pod, { labels: { matchLabels: { app: 'web' } } })
 * const secretNames = cacheView(core.secret, { metadataOnly: true })
 * const small = cacheView(core.configMap, { transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when `type` is already a view, or an option is invalid or unknown.
 */
export function cacheView<R extends ResourceType, To extends KubernetesObject = ObjectMetadata>(
  type: R,
  options: CacheViewOptions<ObjectMetadata, To> & { readonly metadataOnly: true },
): CacheView<To, InputOf<R>>
export function cacheView<R extends ResourceType, To extends KubernetesObject = ObjectOf<R>>(
  type: R,
  options: CacheViewOptions<ObjectOf<R>, To> & { readonly metadataOnly?: false },
): CacheView<To, InputOf<R>>
export function cacheView(
  type: ResourceType,
  options: CacheViewOptions<KubernetesObject, KubernetesObject>,
): CacheView<KubernetesObject, unknown> {
  refuseOptions(
    'cacheView',
    viewOf(type) === undefined
      ? checkView(options, '')
      : ['type: is a view already; pass the type of the view, and all options in one call of cacheView'],
  )
  const { labels, fields = '', namespaces, managedFields = false, metadataOnly = false, transform } = options
  refuseOptions('cacheView', [
    ...selectorProblems(labels ?? {}).map((problem) => `labels.${problem}`),
    ...fieldProblems(fields),
    ...(namespaces ?? []).flatMap((name, index) => dns1123Label(name).map((message) => `namespaces[${index}]: ${message}`)),
    ...(namespaces?.length === 0 ? ['namespaces: must name one at least'] : []),
    ...(namespaces !== undefined && !type.namespaced ? [`namespaces: ${type.kind} is cluster-scoped`] : []),
  ])
  const { group, version, kind, plural, namespaced } = type
  const description = describe(options)
  const selection = {
    ...(labels === undefined ? {} : { labels }),
    ...(fields === '' ? {} : { fields }),
    ...(namespaces === undefined ? {} : { namespaces: [...new Set(namespaces)] }),
  }
  const view: View = Object.freeze({ ...selection, managedFields, metadataOnly, transform, description })
  return Object.freeze({ group, version, kind, plural, namespaced, view })
}

/** The view that corresponds to the client's `metadataOnly(type)`. */
const metadataView: View = Object.freeze({
  managedFields: false,
  metadataOnly: true,
  transform: undefined,
  description: describe({ metadataOnly: true }),
})

/**
 * If `type` is a cache view, returns the options of the view. If `type` is a result of the client's `metadataOnly(type)`, returns the
 * options of the corresponding view. For any other type, returns undefined.
 */
export function viewOf(type: ResourceType): View | undefined {
  return (type as Partial<CacheView>).view ?? (isMetadataOnly(type) ? metadataView : undefined)
}

/**
 * Returns true when objects in the cache may lack fields that the API server stores, because the view omits these fields. A view that omits
 * only `managedFields` does not count.
 */
export function omitsFields(type: ResourceType): boolean {
  const { metadataOnly = false, transform } = viewOf(type) ?? {}
  return metadataOnly || transform !== undefined
}

/**
 * Returns true when a change of an object can remove the object from the view. Requirements on `metadata.name` and `metadata.namespace` do
 * not count, because these fields never change.
 */
export function objectsCanLeave(type: ResourceType): boolean {
  const { labels = {}, fields = '' } = viewOf(type) ?? {}
  const changeable = parseFieldSelector(fields).filter(({ field }) => field !== 'metadata.name' && field !== 'metadata.namespace')
  return requirementsOf(labels).length + changeable.length > 0
}

/** Returns a description of a view for messages and metrics, e.g. `labels app=web; only metadata`; empty for a type without a view. */
export function nameOfView(type: ResourceType): string {
  const { description = '', transform } = viewOf(type) ?? {}
  const ofTransform = transform === undefined ? [] : [`transform ${transform.name}`.trim()]
  return [...(description === '' ? [] : [description]), ...ofTransform].join('; ')
}

/** Returns the type with its view, for messages, e.g. `pods (labels app=web)`. */
export function describeType(type: ResourceType): string {
  const view = nameOfView(type)
  return view === '' ? groupResourceOf(type) : `${groupResourceOf(type)} (${view})`
}

/** Returns true when `a` and `b` are the same view of the same type, or the same type without a view. */
export function isSameView(a: ResourceType, b: ResourceType): boolean {
  if (a === b) return true
  const [ofA, ofB] = [viewOf(a), viewOf(b)]
  return isSameType(a, b) && (ofA?.description ?? '') === (ofB?.description ?? '') && ofA?.transform === ofB?.transform
}

/**
 * Returns the namespaces whose objects of a type are in the cache. An empty list means all namespaces. The list is also empty for a
 * cluster-scoped type.
 *
 * @param ofProcess the namespaces to which the process is limited; empty for all namespaces.
 */
export function namespacesOf(type: ResourceType, ofProcess: readonly string[] = []): readonly string[] {
  return type.namespaced ? (viewOf(type)?.namespaces ?? ofProcess) : []
}

/** Returns the name in the requirement `metadata.name=NAME` of a view's field selector; undefined when there is no such requirement. */
export function nameIn(type: ResourceType): string | undefined {
  const fields = parseFieldSelector(viewOf(type)?.fields ?? '')
  return fields.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value
}

/** Returns the type of the list and watch requests: the metadata-only type for a metadata-only view, otherwise `type` itself. */
export function requestedType<T extends KubernetesObject>(type: ResourceType<T>): ResourceType<T> {
  return viewOf(type)?.metadataOnly === true ? (metadataTypeOf(type) as unknown as ResourceType<T>) : type
}

/** Returns the selectors of the list and watch requests. */
export function selectorsOf(type: ResourceType): { labelSelector?: LabelSelector; fieldSelector?: string } {
  const { labels, fields } = viewOf(type) ?? {}
  return {
    ...(labels === undefined ? {} : { labelSelector: labels }),
    ...(fields === undefined ? {} : { fieldSelector: fields }),
  }
}

function describe({
  labels = {},
  fields = '',
  namespaces,
  managedFields,
  metadataOnly,
}: CacheViewSelection & { metadataOnly?: boolean }): string {
  const requirements = requirementsOf(labels).map((each) => ({ ...each, values: [...new Set(each.values)].sort() }))
  const ofLabels = [...new Set(requirements.map((each) => formatLabelSelector([each])))].sort().join(',')
  const ofFields = [...new Set(parseFieldSelector(fields).map((each) => formatFieldSelector([each])))].sort().join(',')
  return [
    ...(ofLabels === '' ? [] : [`labels ${ofLabels}`]),
    ...(ofFields === '' ? [] : [`fields ${ofFields}`]),
    ...(namespaces === undefined ? [] : [`namespaces ${[...new Set(namespaces)].sort().join(',')}`]),
    ...(metadataOnly === true ? ['only metadata'] : []),
    ...(managedFields === true ? ['with managedFields'] : []),
  ].join('; ')
}

function fieldProblems(fields: string): string[] {
  try {
    parseFieldSelector(fields)
    return []
  } catch (error) {
    return [`fields: ${messageOf(error)}`]
  }
}
