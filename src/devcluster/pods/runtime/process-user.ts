/** `processUser` determines the user of a container from the Pod and the image. `homeOf` finds the home folder of a user. */
import { userInfo } from 'node:os'
import { messageOf } from '../../../api/errors.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { ProcessUser } from '../driver.ts'
import { ContainerConfigError } from '../environment/container-config-error.ts'
import type { ReadonlyContainer } from '../environment/sources.ts'
import { readImageFile } from './image-file.ts'

export interface ImageUser {
  /** The user of the image: `uid`, `uid:gid`, `name` or `name:group`. */
  readonly imageUser?: string | undefined
  /** The folder of the image. Default: the root of this machine. */
  readonly image?: string | undefined
  /**
   * False if the group file of the image is ignored. In the mode `plain`, this file is ignored, because all processes have the groups of
   * the Proreus process. Default: true.
   */
  readonly getsGroups?: boolean
}

type Entries = readonly (readonly string[])[]

/**
 * Resolves with the user and the groups of a container (k8s.io/kubernetes/pkg/securitycontext: DetermineEffectiveSecurityContext;
 * github.com/containerd/containerd: oci.WithUser). Resolves with undefined when neither the Pod nor the image specifies a user or a group.
 *
 * @throws {ContainerConfigError} in these cases:
 *
 * - The image specifies a user or group by a name that is not in its passwd or group file.
 * - One of these files cannot be read.
 * - `runAsNonRoot` is true, and the user is root.
 * - `runAsNonRoot` is true, the Pod specifies no user, and the image specifies the user by a name or an invalid uid.
 */
export async function processUser(
  pod: ReadonlyPod,
  container: ReadonlyContainer,
  { imageUser = '', image = '/', getsGroups = true }: ImageUser,
): Promise<ProcessUser | undefined> {
  const ofPod = pod.spec?.securityContext
  const own = container.securityContext
  const runAsUser = own?.runAsUser ?? ofPod?.runAsUser
  const runAsGroup = own?.runAsGroup ?? ofPod?.runAsGroup
  const groups = [...(ofPod?.fsGroup === undefined ? [] : [ofPod.fsGroup]), ...(ofPod?.supplementalGroups ?? [])]
  if ((own?.runAsNonRoot ?? ofPod?.runAsNonRoot) === true) {
    const problem = nonRootProblem(runAsUser, imageUser)
    const { name, namespace, uid } = pod.metadata
    if (problem !== undefined)
      throw new ContainerConfigError(`${problem} (pod: "${name}_${namespace}(${uid})", container: ${container.name})`)
  }
  const isUserless = runAsUser === undefined && imageUser === ''
  const passwd = isUserless && runAsGroup === undefined && groups.length === 0 ? [] : await entriesOf(image, '/etc/passwd')
  const fromImage = runAsUser === undefined && imageUser !== '' ? await userOfImage(imageUser, image, passwd) : undefined
  const uid = runAsUser ?? fromImage?.uid ?? 0
  if (isUserless && runAsGroup === undefined && groups.length === 0) return undefined
  const [nameOfUid, , , primary = 0] = passwd.find((fields) => Number(fields[2]) === uid) ?? []
  const gid = runAsGroup ?? fromImage?.gid ?? Number(primary)
  const name = fromImage?.name ?? nameOfUid
  const hasGroupsOfImage = name !== undefined && getsGroups && ofPod?.supplementalGroupsPolicy !== 'Strict'
  const ofImage = hasGroupsOfImage ? groupsOf(name, await entriesOf(image, '/etc/group')) : []
  return { uid, gid, supplementalGroups: [...new Set([...groups, ...ofImage])] }
}

/** Maximum of a user id (k8s.io/apimachinery/pkg/util/validation: IsValidUserID). */
const maxUid = 2 ** 31 - 1

/**
 * Returns the reason why a container with `runAsNonRoot: true` must not start (k8s.io/kubernetes/pkg/kubelet/kuberuntime:
 * verifyRunAsNonRoot). Returns undefined if the user of the container is specified by a valid uid that is not 0. If `runAsUser` is
 * undefined and the image specifies the user by a name, the container must not start, even if the name is not `root`.
 */
function nonRootProblem(runAsUser: number | undefined, imageUser: string): string | undefined {
  if (runAsUser !== undefined) return runAsUser === 0 ? "container's runAsUser breaks non-root policy" : undefined
  const [user = ''] = imageUser.split(':')
  const subject = 'container has runAsNonRoot and image'
  if (user === '' || Number(user) === 0) return `${subject} will run as root`
  if (!isNumber(user)) return `${subject} has non-numeric user (${user}), cannot verify user is non-root`
  if (Number(user) <= maxUid) return undefined
  return `${subject} has an invalid user id (${user}). (Must be 1-(${maxUid})): must be between 0 and ${maxUid}, inclusive`
}

/** Returns the groups of which the user is a member, except the group with the name of the user (containerd: oci.WithAdditionalGIDs). */
function groupsOf(user: string, entries: Entries): readonly number[] {
  const listed = entries.filter(([group, , gid = '', members = '']) => group !== user && isNumber(gid) && members.split(',').includes(user))
  return listed.map(([, , gid]) => Number(gid))
}

/**
 * Resolves with the home folder of a user in the passwd file of an image (github.com/opencontainers/runc/libcontainer: getUserHome).
 * Resolves with `/` when the file does not list the user. `image` is the folder of the image. Default: the root of this machine.
 */
export async function homeOf(uid: number, image = '/'): Promise<string> {
  const entry = (await entriesOf(image, '/etc/passwd')).find(([, , id = '']) => isNumber(id) && Number(id) === uid)
  return entry?.[5] || '/'
}

/** Returns the home folder of the user who runs Proreus. Returns `/` when this machine does not know the user. */
export function ownHome(): string {
  try {
    return userInfo().homedir || '/'
  } catch {
    return '/'
  }
}

/** Resolves with the ids of a user such as `postgres` or `999:999`. Names are looked up in the passwd and group files of the image. */
async function userOfImage(
  text: string,
  image: string,
  passwd: Entries,
): Promise<{ readonly uid: number; readonly gid?: number; readonly name?: string }> {
  const [named = '', group] = text.split(':')
  // If `text` names no user, as in `:999`, the user is root (github.com/moby/sys/user: GetExecUser).
  const user = named === '' ? '0' : named
  const byName = passwd.find(([name, , id = '']) => name === user && isNumber(id))
  const uid = isNumber(user) ? Number(user) : byName === undefined ? undefined : Number(byName[2])
  if (uid === undefined) throw refused(`unable to find user ${user}: no matching entries in passwd file`)
  const name = isNumber(user) ? {} : { name: user }
  if (group === undefined) return byName === undefined ? { uid } : { uid, gid: Number(byName[3]), ...name }
  if (isNumber(group)) return { uid, gid: Number(group), ...name }
  const found = (await entriesOf(image, '/etc/group')).find(([name]) => name === group)
  if (found === undefined) throw refused(`unable to find group ${group}: no matching entries in group file`)
  return { uid, gid: Number(found[2]), ...name }
}

function refused(message: string, cause?: unknown): ContainerConfigError {
  return new ContainerConfigError(message, { reason: 'CreateContainerError', cause })
}

function isNumber(text: string): boolean {
  return /^\d{1,10}$/.test(text)
}

/** Resolves with the lines of a file such as /etc/passwd, split at colons. If the file is missing, resolves with no lines. */
async function entriesOf(image: string, path: string): Promise<Entries> {
  try {
    return ((await readImageFile(image, path)) ?? '').split('\n').map((line) => line.split(':'))
  } catch (error) {
    throw refused(`${path} of the image cannot be read: ${messageOf(error)}`, error)
  }
}
