/** `PodVolumes`: the volumes of one Pod (k8s.io/kubernetes/pkg/kubelet/volumemanager). */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { quote } from '../../../api/field-error.ts'
import type { Clock } from '../../../runtime/clock.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { systemRandom } from '../../../runtime/random.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { Mount } from '../driver.ts'
import type { ConfigSources, ReadonlyContainer, ResourceList } from '../environment/sources.ts'
import { AtomicWriter } from './atomic-writer.ts'
import type { ClaimSource } from './claims.ts'
import { boundVolumeOf, ClaimError } from './claims.ts'
import { messageOf } from './combined-error.ts'
import type { ReadyVolume } from './container-mounts.ts'
import { containerMounts } from './container-mounts.ts'
import { usedVolumesOf } from './containers.ts'
import { makeFolder } from './file-system.ts'
import { prepareHostPath } from './host-path.ts'
import { rememberImmutable } from './immutable-objects.ts'
import { nestedMountPoints } from './nested-mount-points.ts'
import type { ChangeOwnership, FsGroupChangePolicy, SetGroup, VolumeGroup } from './ownership.ts'
import { changeOwnership, setGroup } from './ownership.ts'
import type { CreateToken } from './service-account-tokens.ts'
import { ServiceAccountTokens } from './service-account-tokens.ts'
import { removeFolder } from './remove-folder.ts'
import { pathComponent, persistentVolumeFolder, podFolder } from './state-folders.ts'
import { volumeFiles } from './volume-files.ts'

type Volume = NonNullable<NonNullable<ReadonlyPod['spec']>['volumes']>[number]

export interface PodVolumesOptions {
  /** The folder for the files of the cluster. */
  readonly stateFolder: string
  readonly sources: ConfigSources & ClaimSource
  readonly createToken: CreateToken
  /** Changes the owner and the mode of files. Default: a function that does so as the user of this process. */
  readonly changeOwnership?: ChangeOwnership
  /** Sets the group of all files of a volume. Default: this process lists the files, and `changeOwnership` changes them. */
  readonly setGroup?: SetGroup
  /** Removes a folder whose files may belong to other users. Default: a function that does so as the user of this process. */
  readonly removeFolder?: (path: string) => Promise<void>
  /** The allocatable resources of the node, for `resourceFieldRef`. Default: none. */
  readonly allocatable?: ResourceList
  /**
   * Returns true if the volume with this name is omitted. An omitted volume is not created, and is not mounted in any container. Default:
   * no volume is omitted.
   */
  readonly omits?: (volume: string) => boolean
  /** Called with errors that the kubelet only logs. Default: the errors are ignored. */
  readonly onProblem?: (error: Error) => void
  readonly clock?: Clock
  readonly random?: () => number
}

/** The error of a volume that is not ready, or of a Pod whose folder cannot be created. The message is the message of the Event. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError'
  /** The reason of the Event (k8s.io/kubernetes/pkg/kubelet/events). */
  readonly reason: 'FailedMount' | 'FailedToMakePodDataDirectories'

  constructor(message: string, { cause, reason = 'FailedMount' }: ErrorOptions & Partial<Pick<VolumeError, 'reason'>> = {}) {
    super(message, { cause })
    this.reason = reason
  }
}

/** The permissions of a folder that containers share (k8s.io/kubernetes/pkg/volume/emptydir: perm). */
const sharedMode = 0o777
const supported = 'emptyDir, hostPath, secret, configMap, downwardAPI, projected, persistentVolumeClaim and ephemeral'
const shown: ReadonlySet<string> = new Set(['configMap', 'secret', 'downwardAPI', 'projected'])

export class PodVolumes {
  readonly #stateFolder: string
  readonly #folder: string
  readonly #options: PodVolumesOptions
  readonly #objects: ConfigSources
  readonly #tokens: ServiceAccountTokens
  readonly #writers = new Map<string, AtomicWriter>()
  readonly #ready = new Map<string, ReadyVolume>()
  /** Resolves when the work of the latest call has ended. Each call waits for this promise, so calls never overlap. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(pod: ReadonlyPod, options: PodVolumesOptions) {
    const { stateFolder, sources, createToken, onProblem = () => {}, clock = systemClock, random = systemRandom } = options
    this.#stateFolder = stateFolder
    this.#folder = podFolder(stateFolder, pod.metadata.uid ?? '')
    this.#options = options
    this.#objects = rememberImmutable(sources)
    this.#tokens = new ServiceAccountTokens(pod, { createToken, clock, random, onProblem })
  }

  /** The time at which `sync` should be called again to renew a token, in milliseconds since 1970. Infinity when there is no token. */
  get refreshAt(): number {
    return this.#tokens.refreshAt
  }

  /**
   * Creates the volumes that containers use, and updates the volumes whose files come from API objects. If the update of a volume fails,
   * the volume keeps its content. Must be called
   *
   * - before the first container starts,
   * - at `refreshAt`,
   * - after a change of the Pod or of an object in the result of `volumeReferencesOf`.
   *
   * Resolves with the errors of volumes that are not ready or not up to date. The first container may start only after a call has resolved
   * without errors.
   */
  sync(pod: ReadonlyPod): Promise<readonly VolumeError[]> {
    return this.#next(() => this.#sync(pod))
  }

  /**
   * Resolves with the mounts for one start of a container.
   *
   * @param variables the environment variables of the container.
   * @throws {ContainerConfigError} with the message of the kubelet.
   */
  mounts(container: ReadonlyContainer, variables: ReadonlyMap<string, string>): Promise<readonly Mount[]> {
    const { omits = omitsNone } = this.#options
    const volumeMounts = (container.volumeMounts ?? []).filter(({ name }) => !omits(name))
    return this.#next(() => containerMounts({ ...container, volumeMounts }, variables, this.#ready))
  }

  /** Removes the files of the Pod. PersistentVolumes and hostPaths are kept. Call it after all containers of the Pod have ended. */
  remove(): Promise<void> {
    const { removeFolder: remove = removeFolder } = this.#options
    return this.#next(async () => {
      this.#ready.clear()
      this.#writers.clear()
      await remove(this.#folder)
    })
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#work.then(work)
    this.#work = result.catch(() => {})
    return result
  }

  async #sync(pod: ReadonlyPod): Promise<readonly VolumeError[]> {
    const { omits = omitsNone } = this.#options
    const { mounted, devices } = usedVolumesOf(pod)
    const used = (pod.spec?.volumes ?? []).filter(({ name }) => (mounted.has(name) || devices.has(name)) && !omits(name))
    const errors: VolumeError[] = []
    const claimErrors = new Map<string, ClaimError>()
    try {
      // With these permissions, other users of this machine cannot see the files of Pods.
      await mkdir(join(this.#stateFolder, 'pods'), { recursive: true, mode: 0o700 })
    } catch (cause) {
      const message = `error making pod data directories: ${messageOf(cause)}`
      return [new VolumeError(message, { cause, reason: 'FailedToMakePodDataDirectories' })]
    }
    for (const volume of used) {
      try {
        if (devices.has(volume.name)) throw new Error('block devices are not supported for Pods that run as processes')
        await this.#setUp(pod, volume)
      } catch (error) {
        if (error instanceof ClaimError) claimErrors.set(volume.name, error)
        else
          errors.push(new VolumeError(`MountVolume.SetUp failed for volume ${quote(volume.name)} : ${messageOf(error)}`, { cause: error }))
      }
    }
    if (claimErrors.size > 0) errors.push(this.#unmounted(used, claimErrors))
    return errors
  }

  /** Returns the error of a Pod whose claims are not usable (volumemanager: WaitForAttachAndMount; kubelet: SyncPod). */
  #unmounted(used: readonly Volume[], claimErrors: ReadonlyMap<string, ClaimError>): VolumeError {
    const unmounted = used.map(({ name }) => name).filter((name) => !this.#ready.has(name))
    const details = [...claimErrors.values()].map(({ message }) => message).join('; ')
    const lists = `unmounted volumes=[${unmounted.sort().join(' ')}], unattached volumes=[], failed to process volumes=[${[...claimErrors.keys()].sort().join(' ')}]`
    return new VolumeError(`Unable to attach or mount volumes: ${lists}: ${details}`, { cause: [...claimErrors.values()] })
  }

  async #setUp(pod: ReadonlyPod, volume: Volume): Promise<void> {
    const type = typeOf(volume)
    if (shown.has(type)) {
      await this.#showObjects(pod, volume)
      return
    }
    // All other volumes are created once, and never updated.
    if (this.#ready.has(volume.name)) return
    switch (type) {
      case 'emptyDir':
        return this.#makeEmptyDir(pod, volume)
      case 'hostPath':
        this.#ready.set(volume.name, { path: await prepareHostPath(volume.hostPath!), isReadOnly: false })
        return
      case 'persistentVolumeClaim':
      case 'ephemeral':
        return this.#useClaim(pod, volume)
      default:
        throw new Error(`the volume type ${type} is not supported for Pods that run as processes. Supported are ${supported}.`)
    }
  }

  async #makeEmptyDir(pod: ReadonlyPod, { name, emptyDir }: Volume): Promise<void> {
    const { medium = '' } = emptyDir ?? {}
    if (medium !== '' && medium !== 'Memory') throw new Error(`unknown storage medium ${quote(medium)}`)
    const path = this.#folderOf(name)
    await makeFolder(path, sharedMode)
    await this.#giveToGroup(pod, path, { isReadOnly: false })
    this.#ready.set(name, { path, isReadOnly: false })
  }

  async #useClaim(pod: ReadonlyPod, volume: Volume): Promise<void> {
    const { volumeName, isReadOnly } = await boundVolumeOf(pod, volume, this.#options.sources)
    const path = persistentVolumeFolder(this.#stateFolder, volumeName)
    await mkdir(join(this.#stateFolder, 'persistent-volumes'), { recursive: true, mode: 0o700 })
    await makeFolder(path, sharedMode)
    const policy = pod.spec?.securityContext?.fsGroupChangePolicy as FsGroupChangePolicy | undefined
    if (!isReadOnly) await this.#giveToGroup(pod, path, { isReadOnly, policy })
    this.#ready.set(volume.name, { path, isReadOnly })
  }

  async #showObjects(pod: ReadonlyPod, volume: Volume): Promise<void> {
    const { clock = systemClock, random = systemRandom, changeOwnership: change = changeOwnership, allocatable } = this.#options
    const files = await volumeFiles(pod, volume, { objects: this.#objects, tokens: this.#tokens, allocatable })
    const path = this.#folderOf(volume.name)
    let writer = this.#writers.get(volume.name)
    if (writer === undefined) {
      await makeFolder(path, sharedMode)
      for (const nested of nestedMountPoints(pod).get(volume.name) ?? []) await makeFolder(join(path, nested), 0o755)
      writer = new AtomicWriter(path, { clock, random, changeOwnership: change })
      this.#writers.set(volume.name, writer)
    }
    await writer.write(files, () => this.#giveToGroup(pod, path, { isReadOnly: true }))
    this.#ready.set(volume.name, { path, isReadOnly: true })
  }

  async #giveToGroup(pod: ReadonlyPod, path: string, options: VolumeGroup): Promise<void> {
    const gid = pod.spec?.securityContext?.fsGroup
    if (gid === undefined) return
    const { changeOwnership: change = changeOwnership, setGroup: set } = this.#options
    await (set?.(path, gid, options) ?? setGroup(path, gid, { ...options, change }))
  }

  #folderOf(volumeName: string): string {
    return join(this.#folder, 'volumes', pathComponent(volumeName))
  }
}

/** Returns the type of a volume, such as `configMap`. A volume without a type is an emptyDir. */
function typeOf({ name: _name, ...types }: Volume): string {
  return Object.entries(types).find(([, source]) => source !== undefined && source !== null)?.[0] ?? 'emptyDir'
}

function omitsNone(): boolean {
  return false
}
