/** The Job that clones the repository, builds the program and copies it to the output folder. */
import { controllerReference, jsonHash, keyOf } from 'proreus'
import type { batch, DeepReadonly, ObjectInput } from 'proreus'
import type { Xxx } from './kind.ts'
import { taskLabels } from './labels.ts'
import type { XxxOptions } from './options.ts'
import { onNode, outputFolder, podSpec } from './pod-spec.ts'

/** This annotation of a build Job contains the hash of the spec of the Xxx. */
export const specHash = 'test.inspur.com/spec-hash'
/** This annotation of a build Job contains the name of the file that the Job copies to the output folder. */
export const binaryName = 'test.inspur.com/binary-name'

/**
 * The script of the build Job. The script is constant, and receives the values of the spec as parameters. The script passes only the build
 * command (`$3`) to a shell, so the shell does not parse the other values.
 */
export const buildScript = `set -euo pipefail; git clone -- "$1" "$2"; cd -- "$2"; bash -c "$3"; cp -- "$4" ${outputFolder}/`

/** The time in seconds after which a build fails. */
const buildSeconds = 1800

/** Returns the build Job. If `node` is defined, the Pod of the Job runs on this node. */
export function buildJob(owner: DeepReadonly<Xxx>, options: XxxOptions, node: string | undefined): ObjectInput<batch.Job> {
  const { spec } = owner
  const { namespace } = keyOf(owner)
  const labels = taskLabels(owner, 'build')
  const home = /^\/[^/]*/.exec(spec.clonePath)![0]
  const container = {
    command: buildCommand(spec),
    env: [
      { name: 'GIT_ALLOW_PROTOCOL', value: 'https:http:ssh:git' },
      { name: 'GIT_TERMINAL_PROMPT', value: '0' },
      // If the repository is cloned directly into the folder of the volume, this folder belongs to root. In this case, git reads the
      // repository only if `safe.directory` names the folder.
      { name: 'GIT_CONFIG_COUNT', value: '1' },
      { name: 'GIT_CONFIG_KEY_0', value: 'safe.directory' },
      { name: 'GIT_CONFIG_VALUE_0', value: spec.clonePath },
      { name: 'HOME', value: home },
      { name: 'GOCACHE', value: `${home}/.cache/go-build` },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '2', memory: '2Gi' } },
    volumeMounts: [{ name: 'home', mountPath: home }],
  }
  const pod = podSpec(options, container, [{ name: 'home', emptyDir: {} }])
  return {
    metadata: {
      namespace,
      name: spec.jobName,
      labels,
      annotations: { [specHash]: jsonHash(spec), [binaryName]: spec.binaryName },
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: buildSeconds,
      template: { metadata: { labels }, spec: { ...pod, ...(node !== undefined && onNode(node)) } },
    },
  }
}

/** Returns the command of the container. Kubernetes expands `$(NAME)` and replaces `$$` by `$`, so each `$` of a value is doubled. */
export function buildCommand(spec: DeepReadonly<Xxx['spec']>): string[] {
  const values = [spec.gitUrl, spec.clonePath, spec.buildCommand, spec.binaryName]
  return ['bash', '-c', buildScript, 'build', ...values.map((value) => value.replaceAll('$', '$$$$'))]
}

/**
 * Returns true if the annotations of the Job are those of a build of `spec`. Returns false if the Job builds another spec, or if another
 * client has changed the annotations.
 */
export function buildsSpec(job: DeepReadonly<batch.Job>, spec: DeepReadonly<Xxx['spec']>): boolean {
  return job.metadata.annotations?.[specHash] === jsonHash(spec) && binaryNameOf(job) === spec.binaryName
}

/** Returns the name of the file that the Job copies; an empty string if the annotation is missing. */
export function binaryNameOf(job: DeepReadonly<batch.Job>): string {
  return job.metadata.annotations?.[binaryName] ?? ''
}
