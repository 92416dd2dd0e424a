import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kubernetesReleases } from '../../src/testing/binaries.ts'
import { repository } from '../support/process/process.ts'

t.test('the README lists the versions of Kubernetes whose programs the tests build, newest first', async (t) => {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8')
  const [, section] = /\n## Kubernetes versions\n([\s\S]*?)\n## /.exec(readme)!
  const listed = [...section!.matchAll(/^\| (1\.\d+) \| (v[\d.]+) \|/gm)].map(([, minor, release]) => [minor, release])
  t.strictSame(listed, Object.entries(kubernetesReleases))
})
