import { Injectable } from '@nestjs/common';
import type { JobHandler } from './job.models.js';

/** The kinds of jobs there are. Each room registers its own in `onModuleInit`, before the runner starts. */
@Injectable()
export class JobHandlers {
  private readonly handlers = new Map<string, JobHandler>();

  /** @throws Error where another handler has this task already */
  register(handler: JobHandler): void {
    if (this.handlers.has(handler.task)) throw new Error(`two handlers want the jobs "${handler.task}"`);
    this.handlers.set(handler.task, handler);
  }

  get(task: string): JobHandler | undefined {
    return this.handlers.get(task);
  }

  all(): JobHandler[] {
    return [...this.handlers.values()];
  }
}
