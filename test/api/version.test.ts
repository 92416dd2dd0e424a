import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { version } from '../../src/api/version.ts'
import packageJson from '../../package.json' with { type: 'json' }

t.equal(version, packageJson.version)

t.test('the version is found from the build and from the sources', async (t) => {
  const directory = t.testdir({ 'package.json': '{"version":"7.8.9","type":"module"}' })
  for (const folder of ['src', 'dist']) {
    const file = join(directory, folder, 'api', 'version.ts')
    await mkdir(join(directory, folder, 'api'), { recursive: true })
    await copyFile(new URL('../../src/api/version.ts', import.meta.url), file)
    t.match(await import(pathToFileURL(file).href), { version: '7.8.9' })
  }
})
