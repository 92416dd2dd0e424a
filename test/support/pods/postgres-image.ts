/**
 * `postgresImage`: returns an image folder with PostgreSQL. If the cache of Proreus does not contain the folder, the script
 * `docs/examples/postgres/make-image.sh` creates the folder.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { finished, repository } from '../process/process.ts'

export const postgresExample = join(repository, 'docs/examples/postgres')

export interface PostgresImage {
  readonly folder: string
  /** A text from the history of the image. It describes where the programs in the image come from. */
  readonly origin: string
}

/** Resolves with the image. @throws {Error} with the output of the script when this machine has no PostgreSQL and cannot download it. */
export async function postgresImage(): Promise<PostgresImage> {
  const cache = join(process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache'), 'proreus', 'images')
  const folder = join(cache, `postgres-${digestOf(['make-image.sh', 'docker-entrypoint.sh'])}`)
  if (!existsSync(folder)) await makeImage(folder)
  return { folder, origin: originOf(folder) }
}

/**
 * Creates the image in a temporary folder with the script of the example. When the image is complete, its folder is moved to `folder` in
 * the cache.
 */
async function makeImage(folder: string): Promise<void> {
  const cache = dirname(folder)
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(join(cache, 'making-'))
  try {
    const made = join(work, 'image')
    const { code, stderr } = await finished('sh', [join(postgresExample, 'make-image.sh'), made])
    if (code !== 0) throw new Error(`make-image.sh ended with ${code}: ${stderr}`)
    await rename(`${made}.json`, `${folder}.json`)
    // Another process may already have created the same image.
    await rename(made, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Returns the command that runs a program of an image on this machine, with the libraries of the image. */
export function imageProgram(folder: string, name: string): readonly string[] {
  const [loader, libraries, programs] = [
    find(folder, ['lib64', 'lib'], /^ld-linux.*\.so/),
    find(folder, ['usr/lib'], /-linux-gnu/),
    join(find(folder, ['usr/lib/postgresql'], /^\d+$/), 'bin'),
  ]
  return [loader, '--library-path', libraries, join(programs, name)]
}

function find(folder: string, parents: readonly string[], pattern: RegExp): string {
  for (const parent of parents) {
    const found = readdirSync(join(folder, parent)).find((name) => pattern.test(name))
    if (found !== undefined) return join(folder, parent, found)
  }
  throw new Error(`${folder} has no ${pattern} in ${parents.join(' or ')}`)
}

function originOf(folder: string): string {
  const { history } = JSON.parse(readFileSync(`${folder}.json`, 'utf8')) as { history: readonly [{ created_by: string }] }
  return history[0].created_by
}

function digestOf(names: readonly string[]): string {
  const hash = createHash('sha256')
  for (const name of names) hash.update(readFileSync(join(postgresExample, name)))
  return hash.digest('hex').slice(0, 12)
}
