/** Functions with which admission plugins read the state in the store. */
import type { JsonObject } from '../../api/json.ts'
import type { Labels } from '../../api/label-selector.ts'
import { watchType } from '../storage/watch-type.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { FindStorageClass } from './claim-resize.ts'
import { labelsOf } from './matcher.ts'
import type { PodSecurityState } from './pod-security.ts'
import type { WebhookState } from './webhook-admission.ts'

const storageKeys = {
  mutating: 'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  validating: 'admissionregistration.k8s.io/validatingwebhookconfigurations',
} as const

/** Returns the functions with which the admission plugin PodSecurity reads the state in the store. */
export function storedPods(store: ObjectStore): PodSecurityState {
  return {
    namespaceLabels: (name) => namespaceLabels(store, name),
    podsIn(namespace) {
      const { keys, get } = store.snapshot('/pods', namespace)
      return keys.map((key) => get(key)!)
    },
  }
}

/** Returns the function with which the admission plugin PersistentVolumeClaimResize finds storage classes. */
export function storedClasses(store: ObjectStore): FindStorageClass {
  return (name) => store.get('storage.k8s.io/storageclasses', { name })
}

function namespaceLabels(store: ObjectStore, name: string): Labels | undefined {
  const namespace = store.get('/namespaces', { name })
  return namespace === undefined ? undefined : labelsOf(namespace)
}

export function storedWebhooks(store: ObjectStore, catalog: Catalog): WebhookState {
  const mutating = currentObjects(store, storageKeys.mutating)
  const validating = currentObjects(store, storageKeys.validating)
  return {
    configurations: (kind) => (kind === 'mutating' ? mutating() : validating()),
    namespaceLabels: (name) => namespaceLabels(store, name),
    otherVersions: (info) => catalog.all().filter((row) => row.storageKey === info.storageKey && row.version !== info.version),
  }
}

/**
 * Returns a function that returns all objects of a type. The array is cached until an object of the type is created, updated or deleted.
 */
function currentObjects(store: ObjectStore, storageKey: string): () => readonly JsonObject[] {
  let known: readonly JsonObject[] | undefined
  watchType(store, storageKey, () => (known = undefined))
  return () => {
    if (known === undefined) {
      const { keys, get } = store.snapshot(storageKey)
      known = keys.map((key) => get(key)!)
    }
    return known
  }
}
