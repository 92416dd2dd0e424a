/**
 * `Images`: the file systems and configurations of images. For each image, the developer can specify a folder that is the file system of
 * the image. All other images have the file system of this machine.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { messageOf, ProreusError } from '../../../api/errors.ts'
import { isObject } from '../../../api/json.ts'
import type { PodDriver } from '../driver.ts'
import type { ImageConfig } from '../environment/command.ts'
import type { ReadonlyContainer } from '../environment/sources.ts'
import { readRegularFile } from './regular-file.ts'
import { defaultStopSignal, parseSignal } from './stop-signal.ts'

/** The file system and the configuration of an image. */
export interface Image {
  /** The folder that is the root of the file system of the containers. Default: the root of this machine. */
  readonly folder?: string
  readonly config: ImageConfig
  /** The signal that stops a container of the image. */
  readonly stopSignal: NodeJS.Signals
}

/**
 * The maximum number of folders of PATH in which `problemOf` searches for a program. The search in each folder blocks the event loop for
 * some microseconds, and the PATH of a Pod may have a length of 1 MiB.
 */
const maxPathFolders = 1000
/** The longest name of a file, in bytes (Linux: NAME_MAX). */
const maxNameLength = 255

export class Images {
  readonly #byName: ReadonlyMap<string, Image>
  /**
   * The image for all names that are not in `#byName`. Its file system is that of this machine, and its PATH is the environment variable
   * PATH of Proreus.
   */
  readonly #machine: Image
  readonly #path: string

  private constructor(byName: ReadonlyMap<string, Image>, environment: Readonly<Record<string, string | undefined>>) {
    this.#byName = byName
    this.#path = environment.PATH ?? ''
    this.#machine = { config: { Env: [`PATH=${this.#path}`] }, stopSignal: defaultStopSignal }
  }

  /**
   * Reads the configurations of the images. The OCI image configuration of a folder `FOLDER` is the file `FOLDER.json` beside the folder.
   * If this file is missing, the containers of the image must have a `command` or `args`.
   *
   * @param folders the folders of the images. Each key is the name of an image, as in the field `image` of a container.
   * @throws {ProreusError} `PRO_CONFIG_INVALID` when a folder does not exist, or when a configuration cannot be read or is invalid.
   */
  static async read(
    folders: Readonly<Record<string, string>>,
    environment: Readonly<Record<string, string | undefined>> = process.env,
  ): Promise<Images> {
    const entries = Object.entries(folders).map(async ([name, folder]): Promise<[string, Image]> => {
      if (!isFolder(name, folder)) throw invalid(name, `${folder} is not a folder`)
      return [name, { folder, ...(await readConfig(name, `${folder.replace(/\/+$/, '')}.json`)) }]
    })
    return new Images(new Map(await Promise.all(entries)), environment)
  }

  /** Returns the image of a container. Does not check whether the container can be started. */
  of({ image = '' }: ReadonlyContainer): Image {
    return this.#byName.get(image) ?? this.#machine
  }

  /**
   * Returns the reason why a container cannot be started from its image. Returns undefined when the container can be started.
   *
   * @param driver the driver that starts the container. Default: a driver with the mode `namespaces`, whose containers see all folders of
   *   this machine.
   */
  problemOf(
    container: ReadonlyContainer,
    { mode, ownFolders }: Pick<PodDriver, 'mode' | 'ownFolders'> = { mode: 'namespaces', ownFolders: [] },
  ): string | undefined {
    const { image = '' } = container
    const { folder, config } = this.of(container)
    const command = [...(container.command ?? []), ...(container.args ?? [])]
    const hasEntrypoint = (config.Entrypoint ?? []).length > 0 || (config.Cmd ?? []).length > 0
    if (command.length === 0 && !hasEntrypoint)
      return `images are not pulled: the container has neither command nor args, and --pods-image gives ${JSON.stringify(image)} no folder with an entrypoint`
    const program = command[0]
    // This function does not search for the program if a folder is configured for the image, if only the image specifies the program, or if
    // the name of the program refers to a variable. In these cases, Proreus searches for the program when the container starts.
    if (folder !== undefined || program === undefined || program.includes('$(')) return undefined
    const workingDir = container.workingDir || (mode === 'plain' ? process.cwd() : '/')
    // Undefined for a program that is looked up in PATH.
    const path = program.includes('/') ? resolve(workingDir, program) : undefined
    // If the path is in a volume, an init container may write the program to this path later. Therefore, Proreus searches for the program
    // when the container starts.
    if (path !== undefined && isInVolume(path, container)) return undefined
    const hidden = path === undefined ? undefined : ownFolders.find((own) => path.startsWith(`${own}/`))
    if (hidden !== undefined)
      return `the program ${JSON.stringify(program)} is in ${hidden}, which each container has for itself: move it to another folder`
    const problem = problemOfProgram(path === undefined ? this.#filesInPath(program, container, workingDir) : [path])
    if (problem === undefined) return undefined
    return `images are not pulled: the program ${JSON.stringify(program)} ${problem}, and --pods-image gives ${JSON.stringify(image)} no folder`
  }

  /** Returns the possible paths of the program, in the order of PATH. Returns at most `maxPathFolders` + 1 paths. */
  #filesInPath(program: string, { env = [] }: ReadonlyContainer, workingDir: string): readonly string[] {
    if (program.length > maxNameLength) return []
    const path = env.findLast(({ name, value }) => name === 'PATH' && value !== undefined)?.value ?? this.#path
    return path.split(delimiter, maxPathFolders + 1).map((folder) => resolve(workingDir, folder, program))
  }
}

function isInVolume(path: string, { volumeMounts = [] }: ReadonlyContainer): boolean {
  return volumeMounts.some(({ mountPath }) => `${path}/`.startsWith(`${resolve('/', mountPath)}/`))
}

async function readConfig(name: string, file: string): Promise<Omit<Image, 'folder'>> {
  let text: string
  try {
    text = await readRegularFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { config: {}, stopSignal: defaultStopSignal }
    throw invalid(name, `${file} cannot be read`, error)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw invalid(name, `${file} is not JSON`, error)
  }
  // In an OCI image configuration, the field `config` contains the configuration of the containers. A file that contains only the value of
  // `config` is also accepted.
  const config = isObject(json) ? (json.config ?? json) : undefined
  if (!isObject(config)) throw invalid(name, `${file} is not an OCI image configuration`)
  for (const field of ['Entrypoint', 'Cmd', 'Env'] as const)
    if (!isTexts(config[field])) throw invalid(name, `${file}: config.${field} must be a list of strings`)
  for (const field of ['User', 'WorkingDir', 'StopSignal'] as const)
    if (config[field] !== undefined && typeof config[field] !== 'string') throw invalid(name, `${file}: config.${field} must be a string`)
  const { StopSignal = '' } = config as ImageConfig
  const stopSignal = StopSignal === '' ? defaultStopSignal : parseSignal(StopSignal)
  if (stopSignal === undefined)
    throw invalid(name, `${file}: config.StopSignal is ${JSON.stringify(StopSignal)}, which is no signal of this machine`)
  return { config: config as ImageConfig, stopSignal }
}

function isTexts(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
}

/** @throws {ProreusError} `PRO_CONFIG_INVALID` when the path cannot be read. */
function isFolder(name: string, path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    throw invalid(name, `the folder cannot be read: ${messageOf(error)}`, error)
  }
}

/** Returns undefined if one of the files can be run. If no file can be run, returns the reason as the end of a sentence. */
function problemOfProgram(files: readonly string[]): string | undefined {
  // A PATH with more than `maxPathFolders` folders is searched only when the container starts. That search does not block the event loop.
  if (files.length > maxPathFolders) return undefined
  let denied: string | undefined
  for (const file of files) {
    try {
      accessSync(file, constants.X_OK)
      if (statSync(file).isFile()) return undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') denied ??= file
    }
  }
  return denied === undefined ? 'is not on this machine' : `cannot be run (permission denied: ${denied})`
}

function invalid(name: string, problem: string, cause?: unknown): ProreusError {
  return new ProreusError('PRO_CONFIG_INVALID', `The image ${JSON.stringify(name)}: ${problem}.`, { cause })
}
