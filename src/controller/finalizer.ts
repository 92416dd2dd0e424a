/**
 * `withFinalizer`: adds the finalizer of a controller to its objects before they are reconciled. When `finalize` has finished, the
 * finalizer is removed.
 */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { deepFreeze } from '../api/json.ts'
import { quote } from '../api/field-error.ts'
import { qualifiedName } from '../api/name-syntax.ts'
import type { KubernetesObject } from '../api/object.ts'
import { keyOf } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isFunction, isText } from '../api/option-checks.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { describeType, objectsCanLeave } from '../cache/view.ts'
import { isNotFound } from '../client/api-error.ts'
import { retryOnConflict } from '../client/retry-on-conflict.ts'
import type { ReconcileContext, Result } from './reconciler.ts'
import { requeueOf } from './reconciler.ts'
import type { ControllerSettings, FinalizerSettings } from './settings.ts'

const isFinalizerName: OptionCheck = (value, path) => {
  const wrong = isText(value, path)
  if (wrong.length > 0) return wrong
  const name = value as string
  // Finalizers without a domain are reserved for Kubernetes. A finalizer that consists only of a domain is valid, because older operators
  // use such finalizers.
  const problems = /[/.]/.test(name) ? qualifiedName(name) : ['must have a domain, as in example.com/cleanup']
  return problems.map((problem) => `${path}: ${problem}, found ${quote(name)}`)
}

const finalizerOptions = { name: isFinalizerName, finalize: isFunction } satisfies Record<
  keyof FinalizerSettings<KubernetesObject>,
  OptionCheck
>

/** Checks the option `finalizer` of `defineController`. */
export const isFinalizer: OptionCheck = hasOptions(finalizerOptions, ['name', 'finalize'])

/** Returns the RBAC rule that permits a controller with a finalizer to change `metadata.finalizers` of its objects. */
export function finalizerRules(type: ResourceType, { finalizer }: { readonly finalizer?: unknown }): PolicyRule[] {
  return finalizer === undefined ? [] : [{ apiGroups: [type.group], resources: [type.plural], verbs: ['patch'] }]
}

/**
 * Returns a problem if a controller with a finalizer reconciles a view that has a label selector or a field selector. A field selector for
 * `metadata.name` or `metadata.namespace` causes no problem, because these fields never change.
 *
 * While an object with the finalizer does not match the selector, the controller neither calls `finalize` for the object nor removes the
 * finalizer. A deletion of the object therefore does not finish.
 */
export function finalizerProblems(type: ResourceType, { finalizer }: { readonly finalizer?: unknown }): string[] {
  if (finalizer === undefined || !objectsCanLeave(type)) return []
  return [
    `finalizer: an object that leaves the view ${describeType(type)} keeps the finalizer and can never be deleted; use a view without \`labels\` and \`fields\`, and select the objects in \`reconcile\``,
  ]
}

/**
 * Returns the settings with a `reconcile` that maintains the finalizer:
 *
 * - An object that is not being deleted gets the finalizer before it is reconciled.
 * - An object that is being deleted and has the finalizer is passed to `finalize` instead of `reconcile`. The finalizer is removed when
 *   `finalize` resolves without a requeue.
 * - An object that is being deleted and lacks the finalizer is ignored.
 *
 * Settings without a finalizer are returned unchanged.
 */
export function withFinalizer<R extends ResourceType>(
  type: R,
  settings: Pick<ControllerSettings<ObjectOf<R>>, 'reconcile' | 'deleted' | 'finalizer'>,
  random: () => number,
): Pick<ControllerSettings<ObjectOf<R>>, 'reconcile' | 'deleted'> {
  const { finalizer } = settings
  if (finalizer === undefined) return settings
  const { name } = finalizer

  async function reconcile(object: DeepReadonly<ObjectOf<R>>, context: ReconcileContext): Promise<Result> {
    const { finalizers = [], deletionTimestamp } = metadataOf(object)
    const isThere = finalizers.includes(name)
    if (deletionTimestamp !== undefined) return isThere ? finalize(object, context) : undefined
    if (isThere) return settings.reconcile(object, context)
    const added = await changeFinalizers(type, object, context, random, (stored) => {
      // A finalizer cannot be added to an object that is being deleted.
      if (stored.deletionTimestamp !== undefined || stored.finalizers?.includes(name) === true) return undefined
      return [...(stored.finalizers ?? []), name]
    })
    // `added` is undefined if the object no longer exists, is being deleted, or already has the finalizer. In each case, the object has
    // changed since the cache stored `object`. The watch event of this change enqueues the key again.
    if (added === undefined) return undefined
    context.logger.debug({ finalizer: name }, 'added the finalizer')
    return settings.reconcile(deepFreeze(added) as DeepReadonly<ObjectOf<R>>, context)
  }

  async function finalize(object: DeepReadonly<ObjectOf<R>>, context: ReconcileContext): Promise<Result> {
    const result = await finalizer!.finalize(object, context)
    if (requeueOf(result) !== 'success') return result
    await changeFinalizers(type, object, context, random, ({ finalizers = [] }) =>
      finalizers.includes(name) ? finalizers.filter((other) => other !== name) : undefined,
    )
    context.logger.info({ finalizer: name }, 'finalized, and removed the finalizer')
    return undefined
  }

  return { ...settings, reconcile }
}

type Metadata = DeepReadonly<KubernetesObject['metadata']>

/**
 * Patches `metadata.finalizers`, and returns the patched object. Returns undefined when `change` returns undefined, or when the object no
 * longer exists.
 *
 * The patch replaces the whole list. The patch contains the resourceVersion, so that a finalizer that another client has just added is not
 * lost: if the object has changed, the API server responds with 409.
 *
 * @param change returns the new list of finalizers, or undefined for no change. After a conflict, `change` is called again with the current
 *   metadata.
 */
async function changeFinalizers<R extends ResourceType>(
  type: R,
  object: DeepReadonly<ObjectOf<R>>,
  { client, clock, signal }: ReconcileContext,
  random: () => number,
  change: (metadata: Metadata) => readonly string[] | undefined,
): Promise<KubernetesObject | undefined> {
  const untyped: ResourceType = type
  const key = keyOf(object)
  const { uid } = metadataOf(object)
  let current: Metadata | undefined = metadataOf(object)
  const attempt = async (): Promise<KubernetesObject | undefined> => {
    current ??= (await client.get(untyped, key)).metadata
    // The object may have been deleted, and another object with the same name may exist.
    const finalizers = current.uid === uid ? change(current) : undefined
    if (finalizers === undefined) return undefined
    const { resourceVersion } = current
    current = undefined
    return client.patch(untyped, key, { metadata: { finalizers, resourceVersion } })
  }
  try {
    return await retryOnConflict(attempt, { clock, signal, random })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function metadataOf(object: DeepReadonly<KubernetesObject>): Metadata {
  return object.metadata
}
