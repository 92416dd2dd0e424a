/** The type CustomResourceDefinition as a row of the resource catalog. */
import type { Clock } from '../../runtime/clock.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { holdsBigint, isObject, jsonEqual, setOwn } from '../../api/json.ts'
import { builtinResource } from '../resources/builtin-resource.ts'
import { creationTimeDescription, nameColumn, textColumn } from '../resources/columns.ts'
import { changeObjectField, withDefaults as resourceDefaults } from '../resources/defaulting.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { asDefinition, cleanupFinalizer, withCondition } from './definition.ts'
import { unknownFormats } from './schema-formats.ts'
import { validateDefinition } from './validate-definition.ts'

export const definitionsKey = 'apiextensions.k8s.io/customresourcedefinitions'

/** Returns the catalog row of CustomResourceDefinitions. `clock` provides the transition time of the condition Terminating. */
export function customResourceDefinitions(clock: Clock): ResourceInfo {
  return builtinResource({
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    status: true,
    strategy: {
      generation: true,
      distinguishesEmptyLists: true,
      default: withDefaults,
      prepareForCreate(object) {
        const storedVersions = storageVersions(object).slice(0, 1)
        return { ...object, status: { conditions: null, acceptedNames: { kind: '', plural: '' }, storedVersions } }
      },
      warnings: (object) => unknownFormats(object).map((format) => `unrecognized format ${JSON.stringify(format)}`),
      prepareForUpdate: (object, old, subresource) => (subresource === '' ? rememberingVersions(object, old) : object),
      validate: (object, old, subresource) =>
        subresource === 'status' ? [] : validateDefinition(asDefinition(object), old && asDefinition(old)),
      beginDelete: (object) => terminating(object, clock.now()),
      returnsDeleted: true,
    },
    columns: [nameColumn, { ...textColumn('Created At', creationTime), type: 'date', description: creationTimeDescription }],
  })
}

function creationTime({ metadata }: JsonObject): string {
  return isObject(metadata) && typeof metadata.creationTimestamp === 'string' ? metadata.creationTimestamp : ''
}

function withDefaults(given: JsonObject): JsonObject {
  const object = holdsBigint(given) ? withFloats(given) : given
  const { spec } = object
  if (!isObject(spec)) return { ...object, spec: {} }
  const names = isObject(spec.names) ? spec.names : {}
  const kind = typeof names.kind === 'string' ? names.kind : ''
  const defaulted = {
    ...spec,
    names: {
      ...names,
      ...(kind !== '' && !names.singular ? { singular: kind.toLowerCase() } : {}),
      ...(kind !== '' && !names.listKind ? { listKind: `${kind}List` } : {}),
    },
    conversion: isObject(spec.conversion) ? withPort(spec.conversion) : (spec.conversion ?? { strategy: 'None' }),
  }
  const named = jsonEqual(spec, defaulted) ? object : { ...object, spec: defaulted }
  // If `status.storedVersions` is missing or empty, it is set to a list that contains only the name of the version with `storage: true`.
  const { storedVersions } = isObject(object.status) ? object.status : {}
  if (Array.isArray(storedVersions) && storedVersions.length > 0) return named
  return { ...named, status: { ...(isObject(object.status) ? object.status : {}), storedVersions: storageVersions(named).slice(0, 1) } }
}

/**
 * Converts integers beyond 2^53 to floats, because bounds such as `maximum` are floats in Go. `default`, `enum` and `example` contain
 * values of custom resources, and are not converted.
 */
function withFloats<Value extends JsonValue>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withFloats) as JsonValue as Value
  if (typeof value === 'bigint') return Number(value) as JsonValue as Value
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) setOwn(copy, key, exactFields.has(key) ? item : withFloats(item))
  }
  return copy as JsonValue as Value
}

const exactFields: ReadonlySet<string> = new Set(['default', 'enum', 'example'])

/** Sets the port of a conversion webhook's Service to 443 if no port is specified. */
function withPort(conversion: JsonObject): JsonObject {
  return changeObjectField(conversion, 'webhook', (webhook) =>
    changeObjectField(webhook, 'clientConfig', (client) =>
      changeObjectField(client, 'service', (service) => resourceDefaults(service, { port: 443 })),
    ),
  )
}

function storageVersions(object: JsonObject): string[] {
  return (asDefinition(object).spec.versions ?? []).filter(({ storage }) => storage).map(({ name }) => name)
}

/**
 * Adds a new storage version to `status.storedVersions`. The old storage version stays in the list, because existing objects may still be
 * stored in this version.
 */
function rememberingVersions(object: JsonObject, old: JsonObject): JsonObject {
  const status: JsonObject = isObject(old.status) ? old.status : {}
  const stored: readonly string[] = asDefinition(old).status?.storedVersions ?? []
  const added = storageVersions(object).filter((name) => !stored.includes(name))
  return added.length === 0 ? object : { ...object, status: { ...status, storedVersions: [...stored, ...added] } }
}

/**
 * Reverts two changes that `markForDeletion` makes for every type: `deletionGracePeriodSeconds` and the increment of the generation. When a
 * CRD is deleted, kube-apiserver does not make these changes (k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition:
 * REST.Delete).
 */
function withoutGrace({ deletionGracePeriodSeconds: _grace, ...metadata }: JsonObject): JsonObject {
  return typeof metadata.generation === 'number' ? { ...metadata, generation: metadata.generation - 1 } : metadata
}

/**
 * Marks a CRD as terminating: adds the condition Terminating and a finalizer. Because of this finalizer, the CRD exists until its custom
 * resources are deleted.
 */
function terminating(object: JsonObject, now: number): JsonObject {
  const definition = asDefinition(object)
  const finalizers = definition.metadata.finalizers ?? []
  const conditions = withCondition(
    definition.status?.conditions,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  )
  return {
    ...object,
    metadata: {
      ...withoutGrace(object.metadata as JsonObject),
      finalizers: finalizers.includes(cleanupFinalizer) ? [...finalizers] : [...finalizers, cleanupFinalizer],
    },
    status: { ...(isObject(object.status) ? object.status : {}), conditions: conditions as unknown as JsonObject[] },
  }
}
