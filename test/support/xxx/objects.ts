/** Xxxes and their Jobs. */
import type { batch } from '../../../src/api/kubernetes/batch.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'

/** The `spec` of the sample in `docs/operators/xxx.md`. */
export const sampleSpec: Xxx['spec'] = {
  gitUrl: 'https://github.com/kelseyhightower/helloworld.git',
  clonePath: '/root/go/src/helloworld',
  buildCommand: 'go build',
  binaryName: 'helloworld',
  jobName: 'build-helloworld',
}

export function anXxx(spec: Partial<Xxx['spec']> = {}): Xxx {
  return {
    apiVersion: 'test.inspur.com/v1alpha1',
    kind: 'Xxx',
    metadata: {
      name: 'xxx-sample',
      namespace: 'default',
      uid: '0f3f7a1c-5a3c-4a8e-8f0a-8d5c6f1f2b3a',
      generation: 1,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { ...sampleSpec, ...spec },
  }
}

/** The name of the Job that removes the files of the sample. */
export const cleanUpName = `${sampleSpec.jobName}-delete`

export function commandOf({ spec }: batch.Job): readonly string[] {
  return spec?.template.spec?.containers[0]?.command ?? []
}

/** Returns a predicate for Jobs. The predicate returns true when the uid of its argument differs from the uid of the given Job. */
export function isOther({ metadata: { uid } }: batch.Job): (job: batch.Job) => boolean {
  return ({ metadata }) => metadata.uid !== uid
}

/** Values that the schema rejects. */
export const unsafeValues: readonly (readonly [field: keyof Xxx['spec'], value: string])[] = [
  ...['../etc', 'a;b', '', '-rf', '.', '..'].map((value) => ['binaryName', value] as const),
  ...['/', '/opt/x', '/opt', '../x', '/a/../b', '/a//b', '/a/', '/usr/bin', '/etc/x'].map((value) => ['clonePath', value] as const),
  ...[
    '--upload-pack=x',
    'ext::sh',
    'file:///etc',
    'https://a b',
    '/etc',
    'ssh://-oProxyCommand=x/y',
    'ssh://a@-oProxyCommand=x/y',
    'a@b:-x',
    'https://é',
  ].map((value) => ['gitUrl', value] as const),
  ...['a'.repeat(57), 'a'.repeat(60), 'A', 'a.b', '-a'].map((value) => ['jobName', value] as const),
  ...['', ' ', 'a\nb', 'a\0b', 'a'.repeat(4097)].map((value) => ['buildCommand', value] as const),
]
