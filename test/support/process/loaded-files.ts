/** The files that a process of Node.js loads. */
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { finished, repository } from './process.ts'

/** A module for `--import`. When the process ends, the module writes the URLs of all loaded files to the standard error. */
const recorder = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
process.on('exit', () => process.stderr.write(loaded.join(' ')))`)}`

/** Runs `file` with these arguments. Returns the paths of the files that the process loaded, relative to the repository. */
export async function loadedFiles(file: string, args: readonly string[] = []): Promise<readonly string[]> {
  const path = join(repository, file)
  const { stderr } = await finished(process.execPath, ['--import', recorder, '--conditions=proreus-source', path, ...args])
  return stderr
    .split(' ')
    .filter((url) => url.startsWith('file:'))
    .map((url) => relative(repository, fileURLToPath(url)).replaceAll('\\', '/'))
}

/** Returns the names of the packages in `node_modules` to which these files belong. */
export function packagesOf(files: readonly string[]): ReadonlySet<string> {
  return new Set(files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []))
}
