/** The type CustomResourceDefinition, and functions that read and change its conditions. */
import type { Condition } from '../../api/conditions.ts'
import { formatTime } from '../../api/conditions.ts'
import type { JsonObject } from '../../api/json.ts'
import type { ObjectMeta } from '../../api/object.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'

export interface DefinitionNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface DefinitionColumn {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

export interface DefinitionScale {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

export interface DefinitionVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema }
  readonly subresources?: { readonly status?: object; readonly scale?: DefinitionScale }
  readonly additionalPrinterColumns?: readonly DefinitionColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

export type DefinitionCondition = Omit<Condition, 'observedGeneration'>

/** The fields of CustomResourceDefinition in `apiextensions.k8s.io/v1` that this server reads. */
export interface Definition {
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly group: string
    readonly names: DefinitionNames
    readonly scope: string
    readonly versions: readonly DefinitionVersion[]
    readonly conversion?: { readonly strategy: string; readonly webhook?: JsonObject }
    readonly preserveUnknownFields?: boolean
  }
  readonly status?: {
    readonly conditions?: readonly DefinitionCondition[] | null
    readonly acceptedNames?: DefinitionNames
    readonly storedVersions?: readonly string[]
  }
}

/** The finalizer of a terminating CRD. The finalizer is removed after all custom resources of the CRD have been deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/**
 * Casts a decoded or stored CRD. The JSON types need no check, because decoding has rejected wrong types. A decoded CRD that has not been
 * validated can lack required fields. A stored CRD has all of them.
 */
export function asDefinition(object: JsonObject): Definition {
  return object as unknown as Definition
}

function conditionOf(definition: Definition, type: string): DefinitionCondition | undefined {
  return definition.status?.conditions?.find((condition) => condition.type === type)
}

export function isConditionTrue(definition: Definition, type: string): boolean {
  return conditionOf(definition, type)?.status === 'True'
}

/**
 * Returns the conditions with `change` applied. The order of existing conditions does not change
 * (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions: SetCRDCondition).
 */
export function withCondition(
  conditions: readonly DefinitionCondition[] | null | undefined,
  change: Omit<DefinitionCondition, 'lastTransitionTime'>,
  now: number,
): readonly DefinitionCondition[] {
  const list = conditions ?? []
  const before = list.find(({ type }) => type === change.type)
  if (before?.status === change.status && before.reason === change.reason && before.message === change.message) return list
  const lastTransitionTime = before?.status === change.status ? before.lastTransitionTime : formatTime(now)
  const next = { lastTransitionTime, message: change.message, reason: change.reason, status: change.status, type: change.type }
  return before === undefined ? [...list, next] : list.map((condition) => (condition === before ? next : condition))
}
