/** `defineController(type, { reconcile, … })`: defines a controller, i.e. its reconciler and the types that it watches. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import {
  hasOptions,
  isBoolean,
  isDelay,
  isDuration,
  isFunction,
  isListOf,
  isResourceType,
  isText,
  isType,
  isWholeNumber,
} from '../api/option-checks.ts'
import { ProreusError } from '../api/errors.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import { indexProblems, isCacheIndex } from '../cache/cache-index.ts'
import { isSameView } from '../cache/view.ts'
import { finalizerProblems, finalizerRules, isFinalizer } from './finalizer.ts'
import type { ControllerEnvironment, PreparedController } from './prepared-controller.ts'
import { prepareController } from './prepared-controller.ts'
import type { OwnedType, WatchedType, ControllerSettings } from './settings.ts'

export interface ControllerDefinition {
  readonly name: string
  /** The primary type, whose objects the controller reconciles. */
  readonly type: ResourceType
  /** All types that the controller watches. The first type is the primary type. */
  readonly types: readonly ResourceType[]
  readonly rbac: readonly PolicyRule[]
  /** True when the controller reconciles on every replica, and not only on the leader. */
  readonly everyReplica: boolean
  /** The name of the controller's finalizer. */
  readonly finalizer?: string
  /**
   * Begins to watch, and to queue keys. Nothing is reconciled before `work` is called.
   * @internal
   */
  prepare(environment: ControllerEnvironment): PreparedController
}

const watchedBase = { type: isResourceType, predicates: isListOf(isFunction) }
const ownedOptions = { ...watchedBase, everyOwner: isBoolean } satisfies Record<keyof OwnedType, OptionCheck>
const watchedOptions = { ...watchedBase, map: isFunction } satisfies Record<keyof WatchedType, OptionCheck>
const isOwned: OptionCheck = (value, path) =>
  typeof value === 'object' && value !== null && 'type' in value
    ? hasOptions(ownedOptions, ['type'])(value, path)
    : isType(value)
      ? []
      : isResourceType(value, path)
const controllerOptions = {
  name: isText,
  reconcile: isFunction,
  deleted: isFunction,
  finalizer: isFinalizer,
  owns: isListOf(isOwned),
  watches: isListOf(hasOptions(watchedOptions, ['type', 'map'])),
  sources: isListOf(hasOptions({ run: isFunction }, ['run'], { mayHaveOthers: true })),
  resyncPeriodMs: isDelay,
  indexes: isListOf(isCacheIndex),
  predicates: isListOf(isFunction),
  eventFilter: isFunction,
  workers: isWholeNumber(1),
  minIntervalMs: isDelay,
  everyReplica: isBoolean,
  rateLimiter: isFunction,
  rbac: isListOf(isPolicyRule),
  reconciliationTimeoutMs: isDuration,
} satisfies Record<keyof ControllerSettings<KubernetesObject>, OptionCheck>
const checkController = hasOptions(controllerOptions, ['reconcile'])

function refuseController(name: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `The controller "${name}" is invalid: ${problems.join('; ')}.`)
}

/**
 * Defines a controller, which watches objects of `type`, their dependents and the objects of `watches`. Each call of `reconcile` reconciles
 * one object.
 *
 * @example
 * defineController(memcached, {
 *   owns: [deployment],
 *   reconcile: async (object, { client }) => {
 *     await client.apply(deployment, deploymentFor(object))
 *   },
 * })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` in these cases:
 *
 * - Options are invalid or unknown. The message contains all of them.
 * - An index is for a type that the controller does not watch.
 * - The controller has a finalizer, and `type` is a view that selects objects by labels or fields that can change (see `cacheView`). An
 *   object with the finalizer could leave such a view.
 */
export function defineController<R extends ResourceType, const Watched extends readonly ResourceType[] = []>(
  type: R,
  settings: ControllerSettings<ObjectOf<R>, Watched>,
): ControllerDefinition {
  refuseController(settings.name ?? type.kind.toLowerCase(), checkController(settings, ''))
  const owned = (settings.owns ?? []).map((entry): OwnedType => ('type' in entry ? entry : { type: entry }))
  const watched = (settings.watches ?? []) as readonly WatchedType[]
  const types = uniqueTypes([type, ...owned.map((entry) => entry.type), ...watched.map((entry) => entry.type)])
  const name = settings.name ?? type.kind.toLowerCase()
  const indexes = settings.indexes ?? []
  refuseController(name, [...indexProblems(indexes, types, 'name it in `owns` or `watches`'), ...finalizerProblems(type, settings)])

  const rbac = [...types.map(readRule), ...finalizerRules(type, settings), ...(settings.rbac ?? [])]
  const parts = { name, type, types, owned, watched, settings: settings as ControllerSettings<KubernetesObject> }
  const prepare = (environment: ControllerEnvironment): PreparedController => prepareController(parts, environment)
  return Object.freeze({
    name,
    type,
    types,
    rbac,
    everyReplica: settings.everyReplica ?? false,
    ...(settings.finalizer !== undefined && { finalizer: settings.finalizer.name }),
    prepare,
  })
}

function readRule(type: ResourceType): PolicyRule {
  return { apiGroups: [type.group], resources: [type.plural], verbs: ['get', 'list', 'watch'] }
}

function uniqueTypes(types: readonly ResourceType[]): readonly ResourceType[] {
  return types.filter((type, index) => types.findIndex((other) => isSameView(other, type)) === index)
}
