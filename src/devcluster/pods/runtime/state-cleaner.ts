/** Removes the files of Pods and PersistentVolumes that no longer exist. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pod as podType } from '../../../api/builtin.ts'
import { core } from '../../../api/kubernetes/core.ts'
import type { NamespacedMeta, ObjectKey } from '../../../api/object.ts'
import { formatKey } from '../../../api/object.ts'
import type { Client } from '../../../client/client.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { Source } from '../../../controller/source.ts'
import { removePodLogs } from '../logs/container-logs.ts'
import { removeDeletedVolumes } from '../volumes/persistent-volumes.ts'
import { removeFolder } from '../volumes/remove-folder.ts'
import { persistentVolumeFolder, podFolder } from '../volumes/state-folders.ts'

export interface StateCleanerOptions {
  readonly stateFolder: string
  /** Removes a folder, including files of other users. Default: a function that runs rm(1) with the permissions of this process. */
  readonly removeFolder?: ((path: string) => Promise<void>) | undefined
}

export interface CleanStateOptions extends StateCleanerOptions {
  /** Called for each folder that cannot be removed, for example because its files belong to other users. */
  onProblem(error: Error): void
}

/** The objects that existed before the controllers began to run. */
export interface ExistingObjects {
  readonly pods: readonly NamespacedMeta[]
  readonly volumes: readonly ObjectKey[]
}

/**
 * Removes the files of Pods and PersistentVolumes that no longer exist. Such files are left when the cluster ends during a deletion. Returns
 * the Pods and PersistentVolumes that exist.
 */
export async function cleanState(
  client: Client,
  { stateFolder, removeFolder: remove = removeFolder, onProblem }: CleanStateOptions,
): Promise<ExistingObjects> {
  const [pods, volumes] = await Promise.all([client.list(podType), client.list(core.persistentVolume)])
  const uids = new Set(pods.items.map(({ metadata }) => metadata.uid))
  const tryToRemove = (path: string): Promise<void> => remove(path).catch(onProblem)
  for (const uid of await namesIn(join(stateFolder, 'pods'))) if (!uids.has(uid)) await tryToRemove(podFolder(stateFolder, uid))
  for (const uid of await namesIn(join(stateFolder, 'logs'))) if (!uids.has(uid)) await removePodLogs(stateFolder, uid).catch(onProblem)
  await removeDeletedVolumes(stateFolder, new Set(volumes.items.map(({ metadata }) => metadata.name)), tryToRemove)
  return { pods: pods.items.map(({ metadata }) => metadata), volumes: volumes.items.map(({ metadata: { name } }) => ({ name })) }
}

/**
 * Returns the controller that removes the files of a deleted Pod if the Pod ended before the cluster was started. The runtime removes the
 * files of all other deleted Pods.
 *
 * @param existing the result of `cleanState`. When the controller starts, it processes each Pod in `existing`, because the watch sends no
 *   event for a Pod that was deleted before the first list request.
 * @param isRun returns true for the uid of a Pod whose files the runtime removes.
 */
export function podCleaner(
  { stateFolder, removeFolder: remove = removeFolder }: StateCleanerOptions,
  existing: ExistingObjects,
  isRun: (uid: string) => boolean,
): ControllerDefinition {
  /** The uids of the Pods, keyed by namespace and name. */
  const uids = new Map(existing.pods.map((metadata) => [formatKey(metadata), metadata.uid]))
  const removeFiles = async (uid: string | undefined): Promise<undefined> => {
    if (uid === undefined || isRun(uid)) return
    await remove(podFolder(stateFolder, uid))
    await removePodLogs(stateFolder, uid)
  }
  return defineController(podType, {
    name: 'pod-cleaner',
    resyncPeriodMs: 0,
    sources: [once(existing.pods.map(({ namespace, name }) => ({ namespace, name })))],
    async reconcile({ metadata }) {
      const key = formatKey(metadata)
      const before = uids.get(key)
      if (before !== metadata.uid) await removeFiles(before)
      uids.set(key, metadata.uid)
      return undefined
    },
    async deleted(key) {
      await removeFiles(uids.get(formatKey(key)))
      uids.delete(formatKey(key))
    },
  })
}

/** Returns the controller that removes the folder of a deleted PersistentVolume. `existing` has the same purpose as in `podCleaner`. */
export function volumeCleaner(
  { stateFolder, removeFolder: remove = removeFolder }: StateCleanerOptions,
  existing: ExistingObjects,
): ControllerDefinition {
  return defineController(core.persistentVolume, {
    name: 'volume-cleaner',
    resyncPeriodMs: 0,
    sources: [once(existing.volumes)],
    reconcile: () => Promise.resolve(undefined),
    deleted: ({ name }) => remove(persistentVolumeFolder(stateFolder, name)),
  })
}

/** Returns a source that enqueues the keys when the controller begins to work. */
function once(keys: readonly ObjectKey[]): Source {
  return {
    run(enqueue) {
      enqueue(keys)
      return Promise.resolve()
    },
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch {
    return []
  }
}
