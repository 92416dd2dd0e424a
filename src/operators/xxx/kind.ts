/** The kind Xxx: a Git repository, and the command that builds a program from it. */
import { Conditions, defineKind, Type } from 'proreus'
import type { Infer } from 'proreus'

/**
 * The pattern of a URL with the scheme http, https, ssh or git, or of `user@host:path`. Only visible ASCII characters are accepted.
 *
 * git passes parts of the value to ssh, which could interpret a leading `-` as an option. The pattern therefore refuses a `-` at the
 * beginning of the user, the host and the path in `user@host:path`, and after `://` in a URL. A rule of `spec.gitUrl` refuses a `-` after
 * `user@` in a URL.
 */
const gitUrl = String.raw`^((https?|ssh|git)://[A-Za-z0-9_\[][!-~]*|[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9._~/][!-~]*)$`

/** An absolute path without empty elements. */
const absolutePath = '^(/[A-Za-z0-9._-]+)+$'

/**
 * The folders that must not be the first element of `clonePath`. An empty volume is mounted at the first element. If the first element were
 * one of these folders, the volume would hide the programs and libraries of the image, or the output folder `/opt`.
 */
const closedFolders = ['opt', 'etc', 'proc', 'sys', 'dev', 'bin', 'sbin', 'usr', 'lib', 'lib64']

const fileName = '^[A-Za-z0-9._][A-Za-z0-9._-]*$'
const isNoFolder = { rule: "!(self in ['.', '..'])", message: 'must be the name of a file, not a folder' }

/** Maximum length of a file name on Linux, in bytes. */
const maxFileName = 255

/** Returns true for a name that the schema accepts as `spec.binaryName`. */
export function isBinaryName(name: string): boolean {
  return new RegExp(fileName).test(name) && name.length <= maxFileName && name !== '.' && name !== '..'
}

export const phases = ['Building', 'Succeeded', 'Failed', 'Deleting'] as const
export type Phase = (typeof phases)[number]

export const xxx = defineKind({
  group: 'test.inspur.com',
  kind: 'Xxx',
  plural: 'xxxes',
  versions: [
    {
      name: 'v1alpha1',
      spec: Type.Object({
        gitUrl: Type.String({
          maxLength: 2048,
          pattern: gitUrl,
          rules: [{ rule: "!self.matches('^[a-z]+://[^/]*@-')", message: 'must have a host that does not begin with "-"' }],
          description: 'The repository: https://, http://, ssh://, git://, or user@host:path.',
        }),
        clonePath: Type.String({
          maxLength: 1024,
          pattern: absolutePath,
          rules: [
            { rule: String.raw`!self.matches('/[.][.]?(/|$)')`, message: 'must not have the elements "." and ".."' },
            {
              rule: `!self.matches('^/(${closedFolders.join('|')})(/|$)')`,
              message: `must not be in one of the folders ${closedFolders.map((folder) => `/${folder}`).join(', ')}`,
            },
          ],
          description: 'The absolute path in the container to which the repository is cloned, and in which it is built.',
        }),
        buildCommand: Type.String({
          minLength: 1,
          maxLength: 4096,
          pattern: String.raw`^[^\x00\r\n]*$`,
          description: 'The command that builds the program. A shell runs it in the cloned repository.',
        }),
        binaryName: Type.String({
          maxLength: maxFileName,
          pattern: fileName,
          rules: [isNoFolder],
          description: 'The name of the file that the command makes in the repository. It is copied to the output folder.',
        }),
        jobName: Type.String({
          // The name of the clean-up Job is this name with the suffix "-delete", and may have at most 63 characters.
          maxLength: 56,
          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
          description: 'The name of the Job that builds. The Job that removes the file is called JOBNAME-delete.',
        }),
      }),
      status: Type.Object({
        phase: Type.Enum(phases),
        jobName: Type.Optional(Type.String({ description: 'Name of the Job that builds.' })),
        builtBinaryName: Type.Optional(Type.String({ description: 'Name of the file of the latest build that succeeded.' })),
        binaryNames: Type.Array(Type.String({ maxLength: maxFileName, pattern: fileName, rules: [isNoFolder] }), {
          maxItems: 100,
          description: 'Names of the files that builds have written or may have written, and that no clean-up has removed, sorted.',
        }),
        node: Type.Optional(Type.String({ description: 'The node of the latest build that started.' })),
        observedGeneration: Type.Integer({ format: 'int64', description: 'The generation that this status is about.' }),
        conditions: Conditions,
      }),
      printerColumns: [
        { name: 'Phase', jsonPath: '.status.phase' },
        { name: 'Job', jsonPath: '.spec.jobName' },
        { name: 'Binary', jsonPath: '.spec.binaryName' },
        { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
      ],
    },
  ],
})

export type Xxx = Infer<typeof xxx>
