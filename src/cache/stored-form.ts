/** `storedForm`: returns the form in which a view stores an object. `Selector`: decides which objects a view contains. */
import type { ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject, JsonValue } from '../api/json.ts'
import { setOwn } from '../api/json.ts'
import type { LabelRequirement } from '../api/label-selector.ts'
import { matchesLabels, requirementsOf } from '../api/label-selector.ts'
import type { KubernetesObject } from '../api/object.ts'
import { ProreusError } from '../api/errors.ts'
import type { FieldRequirement } from './field-selector.ts'
import { matchesFields, parseFieldSelector } from './field-selector.ts'
import { SharedStrings } from './shared-strings.ts'
import { namespacesOf, viewOf } from './view.ts'

/**
 * The strings that all informers share. Objects of different types, and objects in different cache views, often contain the same names,
 * labels and images.
 */
const strings = new SharedStrings()

const identity = ['name', 'namespace', 'uid', 'resourceVersion'] as const

/**
 * Returns the form in which a view stores an object: without the fields that the view omits, changed by the `transform` of the view, and
 * frozen. The caller must not use `object` afterwards, because the function may change and freeze `object`.
 *
 * @throws {ProreusError} `PRO_INPUT` when `transform` returns an object with another name, namespace, uid or resourceVersion.
 * @throws any error that `transform` throws.
 */
export function storedForm(type: ResourceType, object: KubernetesObject): DeepReadonly<KubernetesObject> {
  return transformed(type, reduced(type, object))
}

/**
 * Returns the stored form of a copy of `object`. The caller may use and change `object` afterwards. Throws the same errors as `storedForm`.
 */
export function storedCopy(type: ResourceType, object: KubernetesObject): DeepReadonly<KubernetesObject> {
  return transformed(type, copyOf(reduced(type, object)))
}

/**
 * Returns an object without the fields that the view omits. A view omits `managedFields`, unless its option `managedFields` is true. A
 * metadata-only view also omits all fields except `apiVersion`, `kind` and `metadata`. The values of the remaining fields are not copied.
 */
function reduced(type: ResourceType, object: KubernetesObject): KubernetesObject {
  const { metadataOnly = false, managedFields = false } = viewOf(type) ?? {}
  const kept = metadataOnly ? { apiVersion: object.apiVersion, kind: object.kind, metadata: object.metadata } : object
  if (managedFields || kept.metadata.managedFields === undefined) return kept
  const { managedFields: _, ...metadata } = kept.metadata
  return { ...kept, metadata }
}

function transformed(type: ResourceType, object: KubernetesObject): DeepReadonly<KubernetesObject> {
  const { transform } = viewOf(type) ?? {}
  if (transform === undefined) return strings.freeze(object)
  const { metadata } = object
  const before = identity.map((field) => metadata[field])
  const stored = transform(object)
  const lost = identity.find((field, index) => (stored as Partial<KubernetesObject> | undefined)?.metadata?.[field] !== before[index])
  if (lost !== undefined)
    throw new ProreusError('PRO_INPUT', `The transform of a view must not change metadata.${lost}: return it unchanged.`)
  return strings.freeze(stored)
}

/** Copies a JSON object of any depth. `structuredClone` takes about four times as long. */
function copyOf<T extends object>(value: T): T {
  const copy: JsonObject = {}
  const waiting: [source: object, target: JsonObject][] = [[value, copy]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [source, target] = next
    for (const [key, field] of Object.entries(source) as [string, JsonValue][]) {
      if (typeof field !== 'object' || field === null) {
        setOwn(target, key, field)
        continue
      }
      const inner = (Array.isArray(field) ? [] : {}) as JsonObject
      setOwn(target, key, inner)
      waiting.push([field, inner])
    }
  }
  return copy as T
}

/** Decides which objects a view contains. */
export class Selector {
  readonly #labels: readonly LabelRequirement[]
  readonly #fields: readonly FieldRequirement[]
  readonly #namespaces: readonly string[]

  constructor(type: ResourceType) {
    const { labels = {}, fields = '' } = viewOf(type) ?? {}
    this.#labels = requirementsOf(labels)
    this.#fields = parseFieldSelector(fields)
    this.#namespaces = namespacesOf(type)
  }

  /** True when the view has a label or field selector. When an object changes, the object can enter or leave such a view. */
  get isSelection(): boolean {
    return this.#labels.length + this.#fields.length > 0
  }

  /** Returns true when the view contains an object, and false when it does not; undefined when only the API server can decide this. */
  selects(object: DeepReadonly<KubernetesObject>): boolean | undefined {
    const { namespace = '', labels } = object.metadata
    if (this.#namespaces.length > 0 && !this.#namespaces.includes(namespace)) return false
    return matchesLabels(this.#labels, labels) && matchesFields(this.#fields, object)
  }
}
