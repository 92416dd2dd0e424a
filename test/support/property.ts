/** fast-check with a seed that is derived from the commit: every machine can repeat a run. */
import fc from 'fast-check'
import { seed } from './seed.ts'

fc.configureGlobal({ seed })

export { fc }
